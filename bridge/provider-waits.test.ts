/** The pause that the provider of a model asks for, in the process of the agent: it is kept before the next request, and ends with its turn. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { waitForEnd } from "../src/testing/wait-for.ts";
import { watchedAbort } from "../src/testing/watched-signal.ts";
import { keepProviderWaits } from "./provider-waits.ts";

const BASE = "https://provider.test/v1";
const KEY = Symbol.for("pi-gateway.provider-waits");
const LIMIT = "PI_GATEWAY_PROVIDER_WAIT_MS";
const plain = { fetch: globalThis.fetch, limit: process.env[LIMIT] };

beforeEach(() => {
  process.env[LIMIT] = "3600000";
  const busy = async () => new Response("busy", { status: 429, headers: { "retry-after": "1800" } });
  globalThis.fetch = Object.assign(busy, { preconnect: () => undefined });
});
afterEach(() => {
  globalThis.fetch = plain.fetch;
  if (plain.limit === undefined) delete process.env[LIMIT];
  else process.env[LIMIT] = plain.limit;
  Reflect.deleteProperty(globalThis, KEY);
});

/** The extension, with what it tells the gateway; `request` is what pi does before each request of a turn. */
function world() {
  let before: ((event: unknown, ctx: unknown) => Promise<unknown>) | null = null;
  const told: string[] = [];
  const on = (_event: string, handler: typeof before): void => {
    before = handler;
  };
  keepProviderWaits({ on } as unknown as ExtensionAPI);
  const ui = { setStatus: (key: string) => void told.push(key) };
  const request = async (signal: AbortSignal) => before?.({}, { model: { baseUrl: BASE }, ui, signal });
  return { told, request };
}

test("a turn that is stopped while its provider wants a pause ends at once, and leaves no listener on its signal", async () => {
  const { told, request } = world();
  const turn = watchedAbort();
  await request(turn.signal);
  await fetch(`${BASE}/messages`);
  const waiting = request(turn.signal);
  expect([told, turn.listeners()]).toEqual([["pi-gateway:provider_asked", "pi-gateway:provider_waiting"], 1]);
  turn.abort();
  await waitForEnd("the end of the pause", waiting);
  await waitForEnd("a request of a turn that is stopped already", request(turn.signal));
  expect(turn.listeners()).toBe(0);
});
