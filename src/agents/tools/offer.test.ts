/** What travels to a process, and how little it costs when nothing has changed. */
import { expect, test } from "bun:test";
import type { ToolGate } from "../../contracts/tools/tool.ts";
import { toolSpec } from "../../testing/agent-fixture.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import type { AgentProcess } from "../process/process.ts";
import { type Offer, offerChange, type ToolsOrder } from "./offer.ts";
import { createOffering } from "./offering.ts";

const MANY = 500;
const BUDGET_MS = 5;
const ROUNDS = 50;

const given = (names: readonly string[]): Offer | null => offerChange(null, names.map(toolSpec), [])?.offer ?? null;

test("only what is new or different is described; all are named, in order", () => {
  const before = given(["a", "b", "c"]);
  const changed = { ...toolSpec("b"), description: "Another one." };
  expect(offerChange(before, [toolSpec("a"), toolSpec("b"), toolSpec("c")], [])).toBeNull();
  expect(offerChange(before, [changed, toolSpec("a"), toolSpec("d")], ["read"])?.order).toEqual({
    kind: "tools",
    names: ["b", "a", "d"],
    specs: [changed, toolSpec("d")],
    own: ["read"],
    session: null,
  });
  const same = [toolSpec("a"), toolSpec("b"), toolSpec("c")];
  expect(offerChange(before, same, [], "agent:default:api:dm:1")?.order).toMatchObject({
    specs: [],
    session: "agent:default:api:dm:1",
  });
  expect(offerChange(before, [], [])?.order).toMatchObject({ names: [], specs: [] });
  expect(offerChange(before, [toolSpec("a"), toolSpec("b"), toolSpec("c")], ["ls"])?.order.specs).toEqual([]);
});

test("after a list that did not arrive everything is described again, because nobody knows what the process has", async () => {
  const sent: ToolsOrder[] = [];
  let offered = ["a"];
  let broken = false;
  const process = {
    pid: 1,
    ended: new Promise(() => undefined),
    onExtensionError: () => undefined,
    async request(order: ToolsOrder) {
      sent.push(order);
      if (broken) throw new Error("the pipe is closed");
      return { ok: true };
    },
  } as unknown as AgentProcess;
  const tools = { offered: async () => offered.map(toolSpec), onChange: () => ({ [Symbol.dispose]: () => undefined }) };
  const offering = createOffering(
    { clock: createFakeClock(), log: recordingLog(), tools: tools as unknown as ToolGate },
    process,
    { order: (body) => body as never, own: () => [], has: () => true, live: true },
  );
  const push = () => offering.push(null, new AbortController().signal).taken;
  await push();
  offered = ["a", "b"];
  broken = true;
  await expect(push()).rejects.toThrow("the pipe is closed");
  broken = false;
  await push();
  expect(sent.map(({ specs }) => specs.map(({ name }) => name))).toEqual([["a"], ["b"], ["a", "b"]]);
});

test("five hundred tools that stayed the same cost a turn less than its budget", () => {
  const specs = Array.from({ length: MANY }, (_, n) => toolSpec(`tool_${n}`));
  const before = offerChange(null, specs, [])?.offer ?? null;
  const times = Array.from({ length: ROUNDS }, () => {
    const began = performance.now();
    // As the gate gives them: new objects around the same schemas.
    expect(
      offerChange(
        before,
        specs.map((spec) => ({ ...spec })),
        [],
      ),
    ).toBeNull();
    return performance.now() - began;
  });
  expect(Math.min(...times)).toBeLessThan(BUDGET_MS);
});
