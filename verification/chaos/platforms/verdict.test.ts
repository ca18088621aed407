/** What the verdict about a platform notices. A verdict that cannot fail proves nothing. */
import { describe, expect, test } from "bun:test";
import { type Evidence, isClean, judgePlatform, type ShownThere } from "./verdict.ts";

const said = (answer: string, taken = true) => ({ chat: "1", answer, taken });
const shown = (text: string, more: Partial<ShownThere> = {}): ShownThere => ({
  chat: "1",
  text,
  life: 1,
  untold: false,
  ...more,
});
const doubt = (text: string) => ({ chat: "1", text });
const judge = (evidence: Partial<Evidence>) =>
  judgePlatform({ said: [said("one"), said("two")], shown: [], doubts: [], excused: new Set(), ...evidence });

const BOTH = [shown("one"), shown("two")];

describe("a verdict about a platform", () => {
  test("is clean when every answer is there once and in order", () => {
    expect(isClean(judge({ shown: BOTH }))).toBe(true);
  });

  const ALSO_ONE = [shown("one", { untold: true }), ...BOTH];
  test.each<[string, Partial<Evidence>, object]>([
    ["an answer that is missing", { shown: [shown("one")] }, { lost: ["1 two"] }],
    ["an answer in another chat", { shown: [shown("one"), shown("two", { chat: "2" })] }, { lost: ["1 two"] }],
    ["a message that was never taken", { said: [said("one", false)], shown: [] }, { unheard: ["1 one"], lost: [] }],
    ["an answer twice", { shown: [...BOTH, shown("two")] }, { doubled: ["1 two, 2 times"] }],
    [
      "an answer twice with a record but no reason",
      { shown: [...BOTH, shown("two")], doubts: [doubt("two")] },
      { doubled: ["1 two, 2 times, and recorded"] },
    ],
    ["an answer twice with a reason but no record", { shown: ALSO_ONE }, { doubled: ["1 one, 2 times"] }],
    [
      "an answer three times",
      { shown: [shown("one", { untold: true }), ...ALSO_ONE], doubts: [doubt("one")] },
      { doubled: ["1 one, 3 times, and recorded"] },
    ],
    ["answers in the wrong order", { shown: BOTH.toReversed() }, { outOfOrder: ["1 two"] }],
    ["the beginning of an answer beside it", { shown: [shown("o …"), ...BOTH] }, { leftOver: ["1 o …"] }],
  ])("notices %s", (_what, evidence, found) => {
    const verdict = judge(evidence);
    expect(verdict).toMatchObject(found);
    expect(isClean(verdict)).toBe(false);
  });

  test.each<[string, Partial<Evidence>, object]>([
    ["twice after a cut", { shown: ALSO_ONE, doubts: [doubt("one")] }, { doubledAndRecorded: 1 }],
    [
      "twice after a kill",
      { shown: [shown("one", { life: 0 }), ...BOTH], doubts: [doubt("one")] },
      { doubledAndRecorded: 1 },
    ],
    ["in doubt and not shown", { shown: [shown("one")], doubts: [doubt("two")] }, { unshownAndRecorded: 1 }],
    [
      "begun before a cut",
      { shown: [shown("o", { untold: true }), ...BOTH], doubts: [doubt("one")] },
      { leftOverAndRecorded: 1 },
    ],
    [
      "replaced by a notice",
      { shown: [shown("one"), shown("It failed.")], excused: new Set(["1 two"]) },
      { notices: 1 },
    ],
  ])("counts, and excuses, an answer that is %s", (_what, evidence, found) => {
    const verdict = judge(evidence);
    expect(verdict).toMatchObject(found);
    expect(isClean(verdict)).toBe(true);
  });
});
