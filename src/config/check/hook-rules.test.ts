/** A start that would make hooks an open door is refused, with a sentence that says what to do. */
import { describe, expect, test } from "bun:test";
import { diffConfig } from "../diff.ts";
import { checkConfigText } from "./check.ts";

const TOKEN = "the-token-of-hooks-9a8b7c6d5e";
const SECRET = "s3cret-for-signing-4f81c2a97b";
const GOOD = { enabled: true, token: TOKEN, secret: SECRET };

const check = (hooks: object, more: object = {}) =>
  checkConfigText(JSON.stringify({ hooks, ...more }), () => undefined);
const messages = (hooks: object, more: object = {}) => check(hooks, more).problems.map(({ message }) => message);

test("a place that nothing would be posted to is pointed out", () => {
  const targets = { ops: { url: "https://ops.example/in" } };
  const mappings = { b: { message: "x", session: "main", webhook: "ops" } };
  expect(check({ ...GOOD, mappings, targets }).warnings).toMatchObject([{ path: "hooks.mappings.b.webhook" }]);
});

describe("hooks", () => {
  test("with a token, a secret and mappings that mean something are fine", () => {
    const mappings = {
      build: { message: "{{build.id}}", agent: "ops", webhook: "ops" },
      loose: { message: "{{.}}", signed: false },
    };
    const targets = { ops: { url: "https://ops.example/in", secret: "another-secret-77ab31c0d9e2" } };
    expect(messages({ ...GOOD, mappings, targets }, { agents: [{ id: "ops" }] })).toEqual([]);
    expect(messages({})).toEqual([]);
    expect(check({ ...GOOD, mappings, targets }, { agents: [{ id: "ops" }] }).warnings).toEqual([]);
    const { warnings } = check({ enabled: true, token: TOKEN });
    expect(warnings).toMatchObject([{ message: expect.stringContaining("can repeat it") }]);
  });

  test.each<[string, object, object, RegExp]>([
    ["no token", { enabled: true }, {}, /hooks\.token is missing/],
    ["a short token", { ...GOOD, token: "short-token" }, {}, /hooks\.token is too short; it must have at least 22/],
    ["a placeholder", { ...GOOD, token: "changeme-changeme-changeme" }, {}, /hooks\.token looks like a placeholder/],
    ["a short secret", { ...GOOD, secret: "short" }, {}, /hooks\.secret is too short/],
    ["the gateway's token", GOOD, { gateway: { auth: { token: TOKEN } } }, /same as gateway\.auth\.token/],
    ["the token for signing", { ...GOOD, secret: TOKEN }, {}, /hooks\.secret is the same as hooks\.token/],
    ["a mapping called wake", { ...GOOD, mappings: { wake: { message: "x" } } }, {}, /a hook called wake already/],
    [
      "a mapping without a secret",
      { enabled: true, token: TOKEN, mappings: { build: { message: "x" } } },
      {},
      /hooks\.mappings\.build takes signed requests only/,
    ],
    [
      "code in a template",
      { ...GOOD, mappings: { b: { message: "{{ a + b }}" } } },
      {},
      /\{\{ a \+ b \}\}, which is no/,
    ],
    ["an unknown agent", { ...GOOD, mappings: { b: { message: "x", agent: "oops" } } }, {}, /no such agent/],
    ["an unknown place", { ...GOOD, mappings: { b: { message: "x", webhook: "oops" } } }, {}, /no such place in hooks/],
    [
      "a job's unknown place",
      GOOD,
      { cron: { jobs: [{ id: "tea", task: "x", schedule: { kind: "every", expr: "1h" }, webhook: "oops" }] } },
      /cron\.jobs\[0\]\.webhook is "oops"/,
    ],
    [
      "a place that signs with the secret of requests",
      { ...GOOD, targets: { ops: { url: "https://ops.example", secret: SECRET } } },
      {},
      /hooks\.targets\.ops\.secret is the same as hooks\.secret/,
    ],
    ["a misspelt key", { ...GOOD, tokn: "x" }, {}, /hooks\.tokn/],
  ])("with %s are refused", (_what, hooks, more, expected) => {
    const found = messages(hooks, more);
    expect(found.join("\n")).toMatch(expected);
    expect(found.join("\n")).not.toContain(SECRET);
  });
});

test.each([
  ["the secret is taken out", GOOD, { ...GOOD, secret: undefined }, true],
  [
    "a mapping need not be signed any more",
    { ...GOOD, mappings: { b: { message: "x" } } },
    { ...GOOD, mappings: { b: { message: "x", signed: false } } },
    true,
  ],
  ["the secret is another one", GOOD, { ...GOOD, secret: `${SECRET}-2` }, false],
  ["they are switched off", GOOD, { enabled: false }, false],
])("a running gateway sees that hooks get easier to call when %s", (_what, before, after, weaker) => {
  const [old, next] = [check(before).config, check(after).config];
  if (!old || !next) throw new Error("these are valid");
  expect(diffConfig(old, next).weakensAuth).toBe(weaker);
});
