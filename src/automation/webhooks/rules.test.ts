/** Settings of a webhook: its own where it has some, the common ones otherwise, and none while webhooks are off. */
import { describe, expect, test } from "bun:test";
import { checkConfigText } from "../../config/index.ts";
import { rulesFor, webhookRole } from "./rules.ts";

function hooks(enabled: boolean) {
  const mappings = {
    own: { message: "x", signed: false, role: "member", perMinute: 2 },
    plain: { message: "x", signed: false },
  };
  const token = "the-token-of-hooks-9a8b7c6d5e";
  const text = JSON.stringify({ hooks: { enabled, token, role: "guest", perMinute: 9, mappings } });
  const { config, problems } = checkConfigText(text, () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return config.hooks;
}

describe("a webhook has", () => {
  test.each([
    ["own", "member", 2],
    ["plain", "guest", 9],
    ["agent", "guest", 9],
    ["wake", "guest", 9],
  ] as const)("(%s) the role and the pace of its mapping, or the common ones", (name, role, perMinute) => {
    expect(rulesFor(name, hooks(true))).toMatchObject({ name, role, perMinute });
    expect(webhookRole(hooks(true), name)).toBe(role);
    expect([rulesFor(name, hooks(false)), webhookRole(hooks(false), name)]).toEqual([null, null]);
  });

  test("the common role under a name that a request brought, also one that every JavaScript object has", () => {
    expect([webhookRole(hooks(true), "geese"), webhookRole(hooks(true), "constructor")]).toEqual(["guest", "guest"]);
    expect([rulesFor("geese", hooks(true)), rulesFor("constructor", hooks(true))]).toEqual([null, null]);
  });
});

test("a previous secret alone asks nobody to sign, and beside another one it does", () => {
  const signed = (more: object) => {
    const settings = { enabled: true, token: "the-token-of-hooks-9a8b7c6d5e", ...more };
    const { config } = checkConfigText(JSON.stringify({ hooks: settings }), () => undefined);
    return config && rulesFor("wake", config.hooks)?.signed;
  };
  const previousSecret = "s3cret-of-before-4f81c2a97b";
  expect([signed({}), signed({ previousSecret })]).toEqual([false, false]);
  expect(signed({ previousSecret, secret: "s3cret-of-now-77ab31c0d9e2" })).toBe(true);
  expect(signed({ previousSecret, keys: { autumn: "s3cret-by-name-77ab31c0d9" } })).toBe(true);
});
