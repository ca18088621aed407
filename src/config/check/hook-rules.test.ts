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

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-${n}`, `${SECRET}-${n}`]));

test("named keys alone are enough: for the mappings, and for wake and agent", () => {
  const mappings = { build: { message: "x" }, own: { message: "x", keys: many(1) } };
  const checked = check({ enabled: true, token: TOKEN, keys: many(8), mappings });
  expect([checked.problems, checked.warnings]).toEqual([[], []]);
  const ownOnly = check({ enabled: true, token: TOKEN, mappings: { own: mappings.own } });
  expect([ownOnly.problems, ownOnly.warnings.map(({ path }) => path)]).toEqual([[], ["hooks.secret"]]);
});

test("a place that nobody has described is named, with those there are", () => {
  const mappings = { b: { message: "x", webhook: "ops" } };
  expect(messages({ ...GOOD, mappings })).toEqual([expect.stringContaining("There are none yet.")]);
  const targets = { elsewhere: { url: "https://a.example/in" } };
  expect(messages({ ...GOOD, mappings, targets })).toEqual([expect.stringContaining("There are: elsewhere.")]);
});

test("a mapping that need not be signed needs no secret", () => {
  const mappings = { build: { message: "x", signed: false } };
  expect(messages({ enabled: true, token: TOKEN, mappings })).toEqual([]);
});

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
    [
      "an unknown webhook target",
      { ...GOOD, mappings: { b: { message: "x", webhook: "oops" } } },
      {},
      /no such entry in hooks/,
    ],
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
    ["a short named key", { ...GOOD, keys: { autumn: "short" } }, {}, /hooks\.keys\.autumn is too short/],
    [
      "a short key of a mapping",
      { ...GOOD, mappings: { b: { message: "x", keys: { autumn: "short" } } } },
      {},
      /hooks\.mappings\.b\.keys\.autumn is too short/,
    ],
    ["a key that is the token", { ...GOOD, keys: { a: TOKEN } }, {}, /hooks\.keys\.a is the same as hooks\.token/],
    [
      "a previous secret that is the token",
      { ...GOOD, previousSecret: TOKEN },
      {},
      /hooks\.previousSecret is the same as hooks\.token/,
    ],
    ["too many keys", { ...GOOD, keys: many(9) }, {}, /hooks\.keys has 9 keys, and 8 is the most/],
    [
      "too many keys of a mapping",
      { ...GOOD, mappings: { b: { message: "x", keys: many(9) } } },
      {},
      /hooks\.mappings\.b\.keys has 9 keys/,
    ],
    ["a key id in capitals", { ...GOOD, keys: { Autumn: `${SECRET}-2` } }, {}, /hooks\.keys\.Autumn/],
    [
      "a place that signs with a named key",
      { ...GOOD, keys: { a: `${SECRET}-2` }, targets: { ops: { url: "https://o.example", secret: `${SECRET}-2` } } },
      {},
      /hooks\.targets\.ops\.secret is the same as hooks\.keys\.a/,
    ],
    [
      "a place that signs with the previous secret",
      {
        ...GOOD,
        previousSecret: `${SECRET}-2`,
        targets: { ops: { url: "https://o.example", secret: `${SECRET}-2` } },
      },
      {},
      /hooks\.targets\.ops\.secret is the same as hooks\.previousSecret/,
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
  [
    "the last named key is taken out",
    { ...GOOD, secret: undefined, keys: many(1) },
    { enabled: true, token: TOKEN },
    true,
  ],
  ["a named key takes the place of the secret", GOOD, { ...GOOD, secret: undefined, keys: many(1) }, false],
  ["the secret is another one", GOOD, { ...GOOD, secret: `${SECRET}-2` }, false],
  ["they are switched off", GOOD, { enabled: false }, false],
])("a running gateway sees that hooks get easier to call when %s", (_what, before, after, weaker) => {
  const [old, next] = [check(before).config, check(after).config];
  if (!old || !next) throw new Error("these are valid");
  expect(diffConfig(old, next).weakensAuth).toBe(weaker);
});

test.each([
  ["token", { auth: { token: TOKEN } }],
  ["password", { auth: { mode: "password", password: TOKEN } }],
])("hooks with the %s of the gateway as their token are refused", (key, gateway) => {
  expect(messages(GOOD, { gateway }).join(" ")).toContain(`hooks.token is the same as gateway.auth.${key}`);
});

test("a secret that signs what is posted is as strong as any other, and not the token of hooks", () => {
  const posting = (secret: string) =>
    messages({ ...GOOD, targets: { ops: { url: "https://ops.example/in", secret } } });
  expect(posting("another-secret-77ab31c0d9e2")).toEqual([]);
  expect(posting("short")).toEqual([expect.stringContaining("hooks.targets.ops.secret is too short")]);
  expect(posting(TOKEN)).toEqual([expect.stringContaining("hooks.targets.ops.secret is the same as hooks.token")]);
});
