/** One prompt of a turn: where its time went, whatever happens beside it in other turns. */
import { expect, test } from "bun:test";
import type { GatewayEvents } from "../contracts/events.ts";
import type { TurnId } from "../contracts/ids.ts";
import { type FakeAgent, NO_USAGE } from "../testing/fake-pool.ts";
import { flow, SESSION } from "../testing/worlds/flow-world.ts";

test("people see what a running tool reports, and what is said again from its beginning", async () => {
  const snapshots: unknown[] = [];
  const see = async () => {
    await fx.clock.advance(100); // words are shown in small portions
    const { text, tools } = fx.live.snapshot(SESSION) ?? {};
    snapshots.push([text, tools?.map(({ status, progress }) => [status, progress])]);
  };
  const works: FakeAgent = async function* () {
    yield { type: "text", delta: "wrong" };
    await see();
    yield { type: "retrying", because: "503" };
    yield { type: "text", delta: "right" };
    yield { type: "tool_start", callId: "a", tool: "bash", input: {} };
    yield { type: "tool_update", callId: "a", text: "half of it" };
    await see();
    yield { type: "tool_end", callId: "a", tool: "bash", isError: false, output: "" };
    yield { type: "done", text: "right", usage: NO_USAGE, model: "fake/one" };
  };
  const fx = await flow(works);
  await using _fx = fx;
  const ended = fx.next("turn.ended");
  await fx.ask("hello");
  await ended;
  expect(snapshots).toEqual([
    ["wrong", []],
    ["right", [["running", "half of it"]]],
  ]);
});

const OTHER = "turn_other" as TurnId;

test("a turn shows the wait for an owner and each call of its model as spans, and none of another turn's", async () => {
  const works: FakeAgent = async function* ({ request: { caller } }) {
    const { sessionKey } = caller;
    const approval = (turnId: TurnId, callId: string, decision: "once" | null) =>
      fx.events.emit("approval", { sessionKey, turnId, callId, tool: "bash", decision } as GatewayEvents["approval"]);
    const call = (turnId: TurnId, model: string) =>
      fx.events.emit("model.call", {
        turnId,
        sessionKey,
        provider: "p",
        model,
        startedAt: fx.clock.elapsed(),
        ms: 7,
        firstTokenMs: null,
        outcome: "answered",
        status: 200,
        retries: 0,
        usage: NO_USAGE,
      });
    call(caller.turnId, "own");
    call(OTHER, "other");
    for (const callId of ["a", "b"]) yield { type: "tool_start", callId, tool: `tool_${callId}`, input: {} };
    approval(caller.turnId, "a", null);
    approval(OTHER, "b", null);
    await fx.clock.advance(5_000);
    approval(caller.turnId, "a", "once");
    await fx.clock.advance(300);
    for (const callId of ["a", "b"])
      yield { type: "tool_end", callId, tool: `tool_${callId}`, isError: false, output: "" };
    yield { type: "done", text: "done", usage: NO_USAGE, model: "fake/one" };
  };
  const fx = await flow(works);
  await using _fx = fx;
  const measured = fx.next("turn.measured");
  await fx.ask("hello");
  const { spans } = await measured;
  const shown = spans.filter(({ name }) => name.includes(":")).map(({ name, ms }) => [name, ms]);
  expect(shown.toSorted()).toEqual([
    ["approval:tool_a", 5_000],
    ["model:own", 7],
    ["tool:tool_a", 300],
    ["tool:tool_b", 5_300],
  ]);
});
