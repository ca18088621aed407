import { expect, test } from "bun:test";
import { exact, pretty } from "./pretty.ts";

test("a tool's input and output are laid out when they are JSON and left alone when not", () => {
  expect([pretty({ a: 1 }), pretty('{"a":1}'), pretty("{not json"), pretty("plain"), pretty(undefined)]).toEqual([
    '{\n  "a": 1\n}',
    '{\n  "a": 1\n}',
    "{not json",
    "plain",
    "",
  ]);
});

test("what somebody has to decide on is shown in full, with everything unseen written out", () => {
  const sly = "rm\u202e -r\u200b \u00a0~\u2028#\u{e0041}\ud800\u0007\u00ad\nnext é 日本 🙂";
  const shown = exact({ command: sly });
  expect(shown).toBe(
    '{\n  "command": "rm\\u202e -r\\u200b \\u00a0~\\u2028#\\udb40\\udc41\\ud800\\u0007\\u00ad\\nnext é 日本 🙂"\n}',
  );
  expect(JSON.parse(shown)).toEqual({ command: sly });
  expect(exact({ text: "x".repeat(200_000) })).toHaveLength(200_000 + '{\n  "text": ""\n}'.length);
  expect(exact(undefined)).toBe("nothing");
});
