/** Which gateway drains, and what it does then. */
import { expect, test } from "bun:test";
import type { InstanceId } from "../contracts/ids.ts";
import type { OtherNodes } from "../contracts/nodes.ts";
import type { GatewayNode, NodeState } from "../contracts/store/nodes.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createDrain, judgeDrain } from "./drain.ts";

const ME = "gateway_a" as InstanceId;
const OTHER = "gateway_b" as InstanceId;
const THIRD = "gateway_c" as InstanceId;
const node = (id: InstanceId, state: NodeState = "live") => ({ id, state, name: `machine of ${id}` });

test.each([
  ["of this gateway is done here", [node(ME), node(OTHER)], ME, { kind: "here", id: ME }],
  ["that was asked for before is done here again", [node(ME, "draining"), node(OTHER)], ME, { kind: "here", id: ME }],
  ["of another gateway is that one's", [node(ME), node(OTHER)], OTHER, { kind: "there", id: OTHER }],
  ["by name is of the one that has it", [node(ME), node(OTHER)], `machine of ${OTHER}`, { kind: "there", id: OTHER }],
  [
    "by the name of one that has ended is refused",
    [node(ME), node(OTHER, "gone")],
    `machine of ${OTHER}`,
    { kind: "unknown" },
  ],
  ["of a gateway that nobody knows is refused", [node(ME)], OTHER, { kind: "unknown" }],
  ["of a gateway that has ended is refused", [node(ME), node(OTHER, "gone")], OTHER, { kind: "gone" }],
  ["of the only gateway is refused", [node(ME), node(OTHER, "gone")], ME, { kind: "alone" }],
  ["of the last one that does not drain is refused", [node(ME), node(OTHER, "draining")], ME, { kind: "alone" }],
] as const)("a drain %s", (_, nodes, id, verdict) => expect(judgeDrain(nodes, id, ME)).toEqual(verdict));

function world() {
  const clock = createFakeClock();
  const log = recordingLog();
  const said: unknown[] = [];
  const state = { list: [node(ME), node(OTHER)], held: 2, willing: (): readonly InstanceId[] => [] };
  const answers = new Map<string, () => Promise<unknown>>();
  const drain = createDrain({
    clock,
    log,
    nodes: {
      self: { id: ME, name: "a" },
      list: async () => state.list as unknown as readonly GatewayNode[],
      drain: async () => void said.push("state"),
    },
    others: {
      ask: async (id: InstanceId, question: string) => void said.push([id, question]),
      answer: (question: string, handler: () => Promise<unknown>) => void answers.set(question, handler),
    } as unknown as Pick<OtherNodes, "ask" | "answer">,
    homes: {
      drain: (willing) => void (state.willing = willing),
      leave: async () => state.held,
    },
  });
  drain.onBegin(() => void said.push("begun"));
  return { clock, log, said, state, answers, drain };
}

test("a gateway that drains says so, stops once, and gives sessions back until none is left", async () => {
  const { clock, log, said, state, drain } = world();
  await drain.begin(ME);
  await drain.begin(ME);
  expect(said).toEqual(["state", "begun", "state"]);
  const isDrained = () => log.lines.some(({ words }) => words === "gateway has drained, and can be stopped");
  await clock.advance(5_000);
  expect(isDrained()).toBe(false);
  state.held = 0;
  await clock.advance(5_000);
  expect(log.lines.filter(({ words }) => words.includes("has drained"))).toHaveLength(1);
  await drain[Symbol.asyncDispose]();
  expect(clock.pending()).toBe(0);
});

test("new sessions go to gateways that live and do not drain themselves", async () => {
  const { clock, state, drain } = world();
  state.list = [node(ME), node(OTHER), node(THIRD, "draining")];
  await drain.begin(ME);
  expect(state.willing()).toEqual([OTHER]);
  state.list = [node(ME), node(OTHER, "gone"), node(THIRD)];
  await clock.advance(1_000);
  expect(state.willing()).toEqual([THIRD]);
  await drain[Symbol.asyncDispose]();
});

test("another gateway is asked to drain, and drains when it is asked", async () => {
  const { said, answers, drain } = world();
  await drain.begin(OTHER);
  expect(said).toEqual([[OTHER, "drain"]]);
  expect(await answers.get("drain")?.()).toBeNull();
  expect(said.slice(1)).toEqual(["state", "begun"]);
  await drain[Symbol.asyncDispose]();
});

test("a drain that leaves nobody to go on is refused with what to do, and changes nothing", async () => {
  const { said, state, drain } = world();
  state.list = [node(ME)];
  await expect(drain.begin(ME)).rejects.toMatchObject({
    code: "conflict",
    say: expect.stringContaining("Start another"),
  });
  await expect(drain.begin(OTHER)).rejects.toMatchObject({ code: "not_found" });
  expect(said).toEqual([]);
});
