import { expect, test } from "bun:test";
import { beginsTyping } from "./preparing.ts";

const now = { session: "a", at: 100_000 };

test.each<[string, Parameters<typeof beginsTyping>[0], boolean]>([
  ["the first keystroke of all", null, true],
  ["the next one", { session: "a", at: 99_000 }, false],
  ["one within half a minute", { session: "a", at: 70_001 }, false],
  ["one after half a minute", { session: "a", at: 70_000 }, true],
  ["the first one in another conversation", { session: "b", at: 99_999 }, true],
])("typing begins with a keystroke after a pause or in another conversation: %s", (_name, before, begins) => {
  expect(beginsTyping(before, now)).toBe(begins);
});
