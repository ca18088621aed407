import { expect, test } from "bun:test";
import { pretty } from "./pretty.ts";

test("a tool's input and output are laid out when they are JSON and left alone when not", () => {
  expect([pretty({ a: 1 }), pretty('{"a":1}'), pretty("{not json"), pretty("plain"), pretty(undefined)]).toEqual([
    '{\n  "a": 1\n}',
    '{\n  "a": 1\n}',
    "{not json",
    "plain",
    "",
  ]);
});
