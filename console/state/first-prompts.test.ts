/** Suggestions of an empty conversation suit the model that answers. */
import { expect, test } from "bun:test";
import { STATUS } from "../../src/testing/http/test-status.ts";
import { firstPrompts } from "./first-prompts.ts";

const texts = (model: { name: string | null; demo: boolean }, tier: "full" | "none") =>
  firstPrompts({ model, sandbox: { ...STATUS.sandbox, setting: "auto", tier } }).map(({ text }) => text);

test("first prompts of the demo model are words that it knows, and a real model gets none of them", () => {
  const demo = texts({ name: "gwdemo/demo", demo: true }, "full");
  expect(demo).toContain("tell me a long story");
  expect(firstPrompts(null).map(({ text }) => text)).toEqual(demo);
  for (const name of ["openai/gpt-5", null]) {
    const real = texts({ name, demo: false }, "full");
    expect(real.filter((text) => demo.includes(text))).toEqual([]);
    expect(real).toHaveLength(3);
  }
});

test("first prompts speak of files only where agents have the tools for them", () => {
  const real = { name: "openai/gpt-5", demo: false };
  expect(texts(real, "full").join()).toContain("files");
  expect(texts(real, "none").join()).not.toContain("files");
});
