/** A provider's key is tried by asking for its models: what the other side does is told in a sentence, and the key never. */
import { expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { systemResolver } from "../../kit/outside/public-address.ts";
import { secret } from "../../kit/secret.ts";
import { modelListAt, modelListOf, tryModelKey } from "./model-list.ts";

function provider(answer: (key: string) => Response) {
  const server = Bun.serve({
    port: 0,
    fetch: (request) => answer(`${new URL(request.url).pathname} ${request.headers.get("authorization") ?? ""}`),
  });
  return { url: `http://127.0.0.1:${server.port}/v1/`, [Symbol.asyncDispose]: () => server.stop(true) };
}

const tryKey = (url: string, key: string | null) =>
  tryModelKey(
    { clock: systemClock, resolve: systemResolver },
    modelListAt(url),
    key === null ? null : secret(key),
    new AbortController().signal,
  );

test("a key that is accepted brings the models of the provider, in either form of such a list", async () => {
  await using openai = provider((seen) =>
    seen === "/v1/models Bearer good"
      ? Response.json({ data: [{ id: "a" }, { id: "b" }, {}] })
      : new Response("", { status: 401 }),
  );
  expect(await tryKey(openai.url, "good")).toMatchObject({ ok: true, models: ["a", "b"] });
  const refused = await tryKey(openai.url, "bad-secret");
  expect(refused).toMatchObject({ ok: false, say: expect.stringContaining("refuses this key (401)"), models: [] });
  expect(JSON.stringify(refused)).not.toContain("bad-secret");
  await using google = provider(() => Response.json({ models: [{ name: "models/gemini" }] }));
  expect(await tryKey(google.url, null)).toMatchObject({ ok: true, models: ["gemini"] });
});

test("a provider that fails, sends nonsense or is not there is told as it is", async () => {
  await using broken = provider(() => new Response("oops", { status: 503 }));
  expect(await tryKey(broken.url, "k")).toMatchObject({ ok: false, say: expect.stringContaining("answered with 503") });
  await using nonsense = provider(() => new Response("<html>"));
  expect(await tryKey(nonsense.url, "k")).toMatchObject({ ok: false, say: expect.stringContaining("not the address") });
  await using other = provider(() => Response.json({ ok: true }));
  expect(await tryKey(other.url, "k")).toMatchObject({ ok: false, say: expect.stringContaining("no list of models") });
  await using elsewhere = provider(() => new Response("", { status: 404 }));
  expect(await tryKey(elsewhere.url, "k")).toMatchObject({ ok: false, say: expect.stringContaining("end with /v1") });
  await using without = provider(() => Response.json({ object: "list", data: null }));
  expect(await tryKey(without.url, "k")).toMatchObject({ ok: true, models: [] });
  expect(await tryKey("http://127.0.0.1:1/v1", "k")).toMatchObject({
    ok: false,
    say: expect.stringContaining("cannot be reached"),
  });
});

test("providers that pi knows have an address of their own, and others have none", () => {
  expect([modelListOf("openai")?.isOwn, modelListOf("toString"), modelListOf("nobody")]).toEqual([false, null, null]);
});
