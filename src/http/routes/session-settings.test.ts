import { expect, test } from "bun:test";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { API_SESSION } from "../../testing/http/memory-store.ts";

const path = `/api/sessions/${encodeURIComponent(API_SESSION)}`;

test("a program chooses model and thinking level for a session, reads them, and clears them", async () => {
  await using world = startHttpWorld();
  const choose = async (body: object) => (await world.postJson(`${path}/model`, body)).json();
  expect(await choose({ model: "two", thinking: "high" })).toEqual({ model: "fake/two-large", thinking: "high" });
  const { session } = (await (await world.call(path)).json()) as { session: object };
  expect(session).toMatchObject({ model: "fake/two-large", thinking: "high" });
  expect(await choose({ thinking: null })).toEqual({ model: "fake/two-large", thinking: null });
  expect(await choose({ model: "default" })).toEqual({ model: null, thinking: null });
  expect(await (await world.call(path)).json()).toMatchObject({ session: { model: null, thinking: null } });
});

test("a choice that makes no sense is refused with words that help, and changes nothing", async () => {
  await using world = startHttpWorld();
  for (const [body, said] of [
    [{ model: "openai/gpt" }, "The gateway has no key for openai"],
    [{ model: "fake/tow-large" }, "Did you mean fake/two-large?"],
    [{ model: "one", thinking: "high" }, "does not think"],
    [{ model: null, thinking: "xtreme" }, "There is no thinking level"],
    [{ model: 7 }, "`model`"],
    [{ modell: "one" }, "There is no field `modell` here."],
  ] as const) {
    const response = await world.postJson(`${path}/model`, body);
    const { error } = (await response.json()) as { error: { message: string } };
    expect([response.status, error.message]).toEqual([422, expect.stringContaining(said)]);
  }
  expect(await (await world.call(path)).json()).toMatchObject({ session: { model: null, thinking: null } });
});

test("a model is chosen for a session before anything is said in it", async () => {
  await using world = startHttpWorld();
  expect((await world.call("/api/sessions/missing")).status).toBe(404);
  expect((await world.postJson("/api/sessions/missing/model", { model: "nonsense" })).status).toBe(422);
  expect((await world.call("/api/sessions/missing")).status).toBe(404);
  const chosen = await world.postJson("/api/sessions/missing/model", { model: "two" });
  expect(await chosen.json()).toEqual({ model: "fake/two-large", thinking: null });
});

test("a session is renamed, and its name withdrawn", async () => {
  await using world = startHttpWorld();
  const rename = (name: unknown, to = path) =>
    world.call(to, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
  expect(await (await rename("Big plan")).json()).toMatchObject({ session: { title: "Big plan" } });
  expect(await (await rename(null)).json()).toMatchObject({ session: { title: "A title" } });
  expect((await rename(7)).status).toBe(422);
  expect((await rename("x", "/api/sessions/missing")).status).toBe(404);
});
