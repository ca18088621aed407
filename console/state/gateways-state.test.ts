/** What the view of gateways makes of the list. */
import { expect, test } from "bun:test";
import type { InstanceId } from "../../src/contracts/ids.ts";
import type { ListedNode } from "../../src/contracts/store/nodes.ts";
import { canDrain, inOrder, workText } from "./gateways-state.ts";

const node = (id: string, more: Partial<ListedNode> = {}): ListedNode => ({
  id: id as InstanceId,
  name: id,
  version: "1.2.3",
  state: "live",
  startedAt: 1,
  renewedAt: 2,
  expiresAt: 3,
  takenOverBy: null,
  settings: null,
  plugins: null,
  waiting: 0,
  running: 0,
  sessions: 0,
  platforms: [],
  heartbeat: false,
  differs: [],
  ...more,
});
const listed = (...items: readonly ListedNode[]) => ({ items, self: "here" as InstanceId });

test("this gateway comes first, then those that live, then those that ended, each by their start", () => {
  const all = listed(
    node("ended", { state: "gone", startedAt: 9 }),
    node("older", { startedAt: 2 }),
    node("here", { startedAt: 1 }),
    node("newer", { startedAt: 5 }),
  );
  expect(inOrder(all).map(({ name }) => name)).toEqual(["here", "newer", "older", "ended"]);
});

test("a gateway can be drained while it lives and another one could go on with its work", () => {
  const [here, other, draining] = [node("here"), node("other"), node("draining", { state: "draining" })];
  expect(canDrain(listed(here, other), here)).toBe(true);
  expect([canDrain(listed(here), here), canDrain(listed(here, draining), here)]).toEqual([false, false]);
  expect(canDrain(listed(here, other, draining), draining)).toBe(false);
});

test.each<[string, Partial<ListedNode>]>([
  ["", {}],
  ["1 running turn, 1 message waits, 1 session", { running: 1, waiting: 2, sessions: 1 }],
  ["2 running turns, 3 messages wait, 4 sessions", { running: 2, waiting: 5, sessions: 4 }],
  ["receives for telegram, begins heartbeats", { platforms: ["telegram"], heartbeat: true }],
])("the work of a gateway is said as %p", (text, more) => expect(workText(node("a", more))).toBe(text));
