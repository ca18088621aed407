/** What travels to a process, and how little it costs when nothing has changed. */
import { expect, test } from "bun:test";
import { toolSpec } from "../../testing/agent-fixture.ts";
import { type Offer, offerChange } from "./offer.ts";

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
  });
  expect(offerChange(before, [], [])?.order).toMatchObject({ names: [], specs: [] });
  expect(offerChange(before, [toolSpec("a"), toolSpec("b"), toolSpec("c")], ["ls"])?.order.specs).toEqual([]);
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
