import { expect, test } from "bun:test";
import { lastPlainLine } from "./plain-line.ts";

test.each([
  ["one line", "one line"],
  ["first\nsecond\n\n", "second"],
  ["10 %\r20 %\r30 %", "30 %"],
  ["\u001b[32mgreen\u001b[0m and \u001b[1;31mred\u001b[m", "green and red"],
  ["\u001b]0;a title\u0007text \u001b]8;;https://a.example\u001b\\link\u001b]8;;\u001b\\", "text link"],
  ["left\u202eright\u2066 \u200fend", "leftright end"],
  ["tab\tand\u0000null\u0007", "tab and null"],
  ["\u001b[2K\u001b[1G", ""],
  ["", ""],
])("the last plain line of %j is %j", (text, line) => {
  expect(lastPlainLine(text)).toBe(line);
});
