/** What people read of something that code of others threw. */
import { expect, test } from "bun:test";
import { ERRORS, errorText, sentenceOf } from "./errors.ts";

const hostile = {
  get message(): string {
    throw new Error("not even this");
  },
};
const circle: { self?: unknown } = {};
circle.self = circle;

test("a stored code is told as a sentence, also one of another version", () => {
  expect(sentenceOf("agent_unsafe_retry")).toBe(ERRORS.agent_unsafe_retry.say);
  expect(sentenceOf("of_another_version")).toBe("It failed. Another version noted why: of_another_version.");
  expect(sentenceOf("")).toBe("");
});

test.each<[what: string, thrown: unknown, text: string]>([
  ["an error", new Error("no such city"), "no such city"],
  ["an error without words", new TypeError(), "TypeError"],
  ["text", "no such city", "no such city"],
  ["a record with a message", { message: "no such city" }, "no such city"],
  ["a record with an error", { error: "no such city", status: 404 }, "no such city"],
  ["a message inside a message", { message: { message: "no such city" } }, "no such city"],
  ["any other record", { status: 404 }, '{"status":404}'],
  ["nothing", undefined, ""],
  ["null", null, ""],
  ["an empty record", {}, ""],
  ["a number", 7, "7"],
  ["a symbol", Symbol("gone"), "gone"],
  ["a record without a prototype", Object.assign(Object.create(null), { message: "no such city" }), "no such city"],
  ["a getter that throws", hostile, ""],
  ["a record that holds itself", circle, ""],
])("errorText of %s is readable", (_what, thrown, text) => {
  expect(errorText(thrown)).toBe(text);
});
