import { expect, test } from "bun:test";
import type { SettingForm } from "../../src/contracts/config-api.ts";
import { shownValue, textOf, valueOf } from "./setting-value.ts";

const NUMBER: SettingForm = { kind: "number", isWhole: true };
const JSON_FORM: SettingForm = { kind: "json", inFileOnly: false };
const DURATION: SettingForm = { kind: "duration", text: "30m" };

test.each<[SettingForm, string, unknown]>([
  [{ kind: "flag" }, "true", true],
  [{ kind: "flag" }, "false", false],
  [NUMBER, "4000", 4_000],
  [NUMBER, "${PORT}", "${PORT}"],
  [DURATION, " 5m ", "5m"],
  [{ kind: "choice", choices: ["a"] }, "a", "a"],
  [{ kind: "text" }, " words ", " words "],
  [{ kind: "secret" }, "s", "s"],
  [JSON_FORM, '["a"]', ["a"]],
])("%j takes %p as %j", (form, text, value) => {
  expect(valueOf(form, text)).toEqual({ ok: true, value });
});

test.each<[SettingForm, string]>([
  [NUMBER, ""],
  [NUMBER, "many"],
  [JSON_FORM, "[a]"],
])("%j does not take %p, and says why", (form, text) => {
  expect(valueOf(form, text)).toEqual({ ok: false, problem: expect.stringContaining("This is not") });
});

test("a field begins with the value as it is written, and one of a secret with nothing", () => {
  expect([
    textOf(NUMBER, 5),
    textOf(DURATION, 1_800_000),
    textOf({ kind: "secret" }, "set"),
    textOf(JSON_FORM, ["a"]),
    textOf({ kind: "text" }, null),
  ]).toEqual(["5", "30m", "", '[\n  "a"\n]', ""]);
  expect([shownValue(1_800_000, "duration"), shownValue(1_800_000, "number"), shownValue(90_500, "duration")]).toEqual([
    "30m",
    "1800000",
    "90500ms",
  ]);
  expect([shownValue(null), shownValue("x"), shownValue(["a"]), shownValue(false)]).toEqual([
    "not set",
    "x",
    '["a"]',
    "false",
  ]);
});
