/** An update that was begun in the web console ends with words that say which version serves. */
import { expect, test } from "bun:test";
import { endText } from "./update-state.ts";

const REPORT = {
  version: "1.2.3",
  because: null,
  newest: null,
  isRunning: false,
  steps: ["Installing …", "npm install did not work."],
  hasFailed: true,
  last: null,
};

test.each([
  ["another version", { version: "1.3.0", hasFailed: false }, "Version 1.3.0 serves now. It was 1.2.3."],
  [
    "the old version again",
    { hasFailed: false, last: { from: "1.2.3", to: "1.3.0", at: 1, kind: "returned" as const, why: "no port" } },
    "Version 1.3.0 did not start, and 1.2.3 goes on. no port",
  ],
  ["a failure before the switch", {}, "npm install did not work."],
  ["no word at all", { steps: [] }, "Nothing was changed; version 1.2.3 goes on."],
])("an update that ended with %s says so", (_what, end, words) => {
  expect(endText({ ...REPORT, ...end }, "1.2.3")).toBe(words);
});
