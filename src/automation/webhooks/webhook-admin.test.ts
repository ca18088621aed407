/** Webhooks for an operator: looked at without secrets, tried as a sender would, and given keys that replace each other without a gap. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../../config/index.ts";
import type { WebhookCall } from "../../contracts/automation/webhook.ts";
import type { ConfigChange } from "../../contracts/config-api.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { rulesFor } from "./rules.ts";
import { verify } from "./verify.ts";
import { createWebhookAdmin } from "./webhook-admin.ts";

const text = (letter: string) => `${letter.repeat(4)}-9f3a7c1e5b2d8046-q7Zr`;
const BUILD = { message: "Build {{id}} failed", task: "Say why.", secret: text("b"), keys: { "2026-10": text("c") } };

function world(hooks: object) {
  const { config, problems } = checkConfigText(
    JSON.stringify({ hooks: { token: text("t"), ...hooks } }),
    () => undefined,
  );
  if (!config) throw new Error(problems.map(({ message }) => message).join(" "));
  const clock = createFakeClock(Date.parse("2026-11-16T12:00:00Z"));
  const received: WebhookCall[] = [];
  const saved: ConfigChange[] = [];
  const admin = createWebhookAdmin({
    clock,
    ids: createSeqIds(),
    resolve: async () => [],
    incoming: {
      async receive(call) {
        received.push(call);
        const rules = rulesFor(call.name, config.hooks);
        if (!rules) return { kind: "refused", code: "not_found", guess: false };
        const { kind } = verify(call, rules, clock.now());
        return kind === "good"
          ? { kind: "stored", id: "hook_1" }
          : { kind: "refused", code: "hook_signature", guess: true };
      },
    },
    editor: {
      file: async () => ({ path: "/x", text: "{}", version: "v1" }),
      async save(change) {
        saved.push(change);
        return {
          text: "{}",
          problems: [],
          warnings: [],
          changes: [],
          weakensAuth: false,
          written: true,
          backup: null,
          notInForce: [],
        };
      },
    },
    settings: () => config.hooks,
  });
  return { admin, received, saved };
}

const HOOKS = {
  enabled: true,
  secret: text("s"),
  mappings: { build: BUILD, open: { message: "{{.}}", signed: false }, plain: { message: "Hello {{name}}" } },
  targets: { ops: { url: "http://ann:pw@ops.example/x", secret: text("o") } },
};

test("webhooks are listed with where their keys stand, and without a secret", () => {
  const list = world(HOOKS).admin.list();
  expect(list.incoming.map(({ name, signed, keysAreShared }) => [name, signed, keysAreShared])).toEqual([
    ["wake", true, true],
    ["agent", true, true],
    ["build", true, false],
    ["open", false, true],
    ["plain", true, true],
  ]);
  expect(list.incoming[2]).toMatchObject({
    keys: [
      { id: "secret", path: "hooks.mappings.build.secret" },
      { id: "2026-10", path: "hooks.mappings.build.keys.2026-10" },
    ],
    mapping: { message: "Build {{id}} failed", task: "Say why.", agent: "default" },
  });
  expect(list.targets).toEqual([
    { name: "ops", url: "http://(hidden)@ops.example/x", signed: true, privateNetwork: false },
  ]);
  expect(JSON.stringify(list)).not.toMatch(/bbbb|cccc|ssss|oooo|tttt|pw/);
});

test.each(["build", "open", "plain"])(
  "a test of %s is signed as its sender would, and says what the agent gets",
  async (name) => {
    const { admin } = world(HOOKS);
    const answer = await admin.test(name, '{"id":42,"name":"Ann"}', new AbortController().signal);
    expect(answer).toEqual({ kind: "taken", id: "hook_1", text: expect.stringMatching(/42|Ann/) });
  },
);

test("a test of a webhook that is off, or that does not exist, says so", async () => {
  const { signal } = new AbortController();
  expect(await world({ ...HOOKS, enabled: false }).admin.test("build", "{}", signal)).toEqual({
    kind: "refused",
    say: "Webhooks are switched off: hooks.enabled is false.",
  });
  expect(await world(HOOKS).admin.test("none", "{}", signal)).toBeNull();
  expect(await world(HOOKS).admin.testTarget("none", signal)).toBeNull();
});

test("a new key stands beside the old ones, where those of the webhook stand, under the day of its making", async () => {
  const { admin, saved } = world({ ...HOOKS, keys: { "2026-11-16": text("k") } });
  expect(await admin.addKey("build")).toMatchObject({
    kind: "added",
    key: { id: "2026-11-16", path: "hooks.mappings.build.keys.2026-11-16" },
  });
  expect(await admin.addKey("wake")).toMatchObject({ kind: "added", key: { path: "hooks.keys.2026-11-16-2" } });
  expect(await admin.addKey("none")).toEqual({ kind: "unknown" });
  expect(saved.map((change) => "edits" in change && change.edits[0]?.path)).toEqual([
    ["hooks", "mappings", "build", "keys", "2026-11-16"],
    ["hooks", "keys", "2026-11-16-2"],
  ]);
});

test("a key is removed by its id, and the last one is not", async () => {
  const { admin, saved } = world(HOOKS);
  expect(await admin.removeKey("build", "secret")).toEqual({ kind: "removed" });
  expect(await admin.removeKey("build", "2026-10")).toEqual({ kind: "removed" });
  expect(await admin.removeKey("build", "none")).toEqual({ kind: "unknown" });
  expect(await admin.removeKey("plain", "secret")).toMatchObject({ kind: "refused" });
  expect(saved).toEqual([
    { version: "v1", edits: [{ path: ["hooks", "mappings", "build", "secret"] }] },
    { version: "v1", edits: [{ path: ["hooks", "mappings", "build", "keys", "2026-10"] }] },
  ]);
});
