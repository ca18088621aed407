/** Heartbeats and webhooks over HTTP: answers and refusals as their parts give them. */
import { expect, test } from "bun:test";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";

test("a checklist that somebody else has changed, or that nobody can have, is not written", async () => {
  const written: unknown[] = [];
  await using world = startHttpWorld(
    {},
    {
      automation: {
        heartbeats: {
          list: async () => [],
          async write(...given) {
            written.push(given);
            if (given[0] === "nobody") return { kind: "refused", say: "There is no such agent." };
            return { kind: given[2] === null ? "written" : "changed" };
          },
        },
      },
    },
  );
  const post = async (agent: string, body: object) => {
    const response = await world.postJson(`/api/heartbeats/${agent}/checklist`, body);
    return [response.status, await response.json()];
  };
  expect(await post("papers", { text: "- mail", before: null })).toEqual([200, { written: true }]);
  expect(await post("papers", { text: "- mail", before: "old" })).toMatchObject([
    409,
    { error: { message: expect.stringContaining("has changed since") } },
  ]);
  expect(await post("nobody", { text: "", before: null })).toMatchObject([
    404,
    { error: { message: "There is no such agent." } },
  ]);
  expect((await post("papers", { text: "x".repeat(16_001), before: null }))[0]).toBe(422);
  expect(written).toHaveLength(3);
});

test("webhooks are tried and given keys by name, and unknown ones are not found", async () => {
  await using world = startHttpWorld(
    {},
    {
      automation: {
        webhookAdmin: {
          list: () => ({ enabled: true, incoming: [], targets: [] }),
          test: async (name, body) =>
            name === "build"
              ? body === "{}"
                ? { kind: "taken", id: "hook_1", text: "words" }
                : { kind: "refused", say: "The body is not valid JSON." }
              : null,
          testTarget: async (name) => (name === "ops" ? { ok: false, say: "It answered with status 500." } : null),
          addKey: async (name) =>
            name === "build"
              ? { kind: "added", key: { id: "k", path: "hooks.keys.k" }, secret: "s" }
              : { kind: "unknown" },
          removeKey: async (_name, key) =>
            key === "k" ? { kind: "removed" } : { kind: "refused", say: "The only one." },
        },
      },
    },
  );
  const post = async (path: string, body: unknown = "") => {
    const init = body === "" ? { method: "POST" } : undefined;
    const response = init ? await world.call(path, init) : await world.postJson(path, body);
    return [response.status, await response.json()];
  };
  expect(await post("/api/webhooks/build/test", { body: "{}" })).toEqual([200, { id: "hook_1", text: "words" }]);
  expect(await post("/api/webhooks/build/test", { body: "{" })).toMatchObject([409, {}]);
  expect(await post("/api/webhooks/none/test", { body: "{}" })).toMatchObject([404, {}]);
  expect(await post("/api/webhook-targets/ops/test")).toEqual([
    200,
    { ok: false, say: "It answered with status 500." },
  ]);
  expect(await post("/api/webhook-targets/none/test")).toMatchObject([404, {}]);
  expect(await post("/api/webhooks/build/keys")).toEqual([
    201,
    { key: { id: "k", path: "hooks.keys.k" }, secret: "s" },
  ]);
  expect(await post("/api/webhooks/none/keys")).toMatchObject([404, {}]);
  const remove = async (key: string) =>
    (await world.call(`/api/webhooks/build/keys/${key}`, { method: "DELETE" })).status;
  expect([await remove("k"), await remove("last")]).toEqual([200, 409]);
});
