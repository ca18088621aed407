import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { isSecret, secret } from "./secret.ts";

test("a secret opens only by its own name: every way of printing it says [redacted]", () => {
  const value = secret("hunter2-hunter2");
  const printed = [
    `${value}`,
    String(value),
    JSON.stringify({ value }),
    inspect(value),
    Bun.inspect({ value }),
    value + "",
    Object.values(value).join(),
  ];
  expect(printed.filter((text) => text.includes("hunter2"))).toEqual([]);
  expect(JSON.stringify({ value })).toBe('{"value":"[redacted]"}');
  expect(value.reveal()).toBe("hunter2-hunter2");
  expect(isSecret(value)).toBe(true);
  expect(isSecret({ reveal: () => "x" })).toBe(false);
});
