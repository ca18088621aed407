/** The configuration file changes under a running gateway: real process, real pi, scripted provider. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GatewayStatus } from "../src/contracts/wire.ts";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import {
  agentPids,
  asked,
  endpoint,
  eventually,
  openSocket,
  runs,
  statusOf,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const OLD_TOKEN = "the-old-token-of-this-gateway-1234";
const NEW_TOKEN = "the-new-token-of-this-gateway-5678";
const TOKEN_CHANGE_MS = 5_000;
const quiet = { agent: { pool: { min: 0, max: 1 } }, gateway: { port: 0 } };

let provider: FakeProvider;
let gateway: GatewayProcess;
let gate = deferred<void>();

beforeAll(async () => {
  provider = await startFakeProvider((request) =>
    asked(request).includes("wait")
      ? says("began, ", gate.promise, "ended")
      : says(`I am ${String(request.body.model)}`),
  );
  gateway = await startGatewayProcess({ config: quiet, portFromConfig: true });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

/** Where a test begins: the gateway runs with this and has nothing to say about it. */
async function begin(config: unknown): Promise<void> {
  await save(gateway, config);
  await gateway.fetch("/api/config/reload", { method: "POST" });
  expect(await noticesOf(gateway)).toEqual([]);
}

const withModel = (model: string, max: number) => ({
  ...endpoint(provider, model),
  agent: { model: `fake/${model}`, pool: { min: 0, max } },
  gateway: quiet.gateway,
});

async function save(gateway: GatewayProcess, config: unknown): Promise<void> {
  if (typeof config === "string") await writeFile(join(gateway.home, "pi-gateway.jsonc"), config);
  else await saveSettings(gateway.home, config);
}

const noticesOf = async (of: GatewayProcess) => (await statusOf(of)).notices;

describe("a changed model", () => {
  test("serves the next turn, while the running one ends with the old model and the old processes go", async () => {
    gate = deferred<void>();
    await begin(withModel("fake-1", 2));
    const before = provider.requests.length;
    const running = gateway.chat("wait for me", { session: "long" });
    await provider.arrived(before + 1);
    const old = agentPids(gateway.home);
    expect(old.length).toBeGreaterThan(0);

    await save(gateway, withModel("fake-2", 2));
    const next = await eventually(
      "an answer of the new model",
      () => gateway.chat("who are you", { session: "next" }),
      ({ body }) => body.content === "I am fake-2",
    );
    expect(next.status).toBe(200);
    expect((await transcript(gateway, "long")).map(({ role }) => role)).toEqual(["user"]);

    gate.resolve();
    expect((await running).body.content).toBe("began, ended");
    const [asking] = provider.requests.filter((request) => asked(request).includes("wait"));
    expect(asking?.body.model).toBe("fake-1");
    await eventually(
      "the old agents have ended",
      () => old.filter(runs),
      (left) => left.length === 0,
    );
    expect((await gateway.chat("and who is this", { session: "long" })).body.content).toBe("I am fake-2");
    expect((await statusOf(gateway)).model).toEqual({ name: "fake/fake-2", demo: false });
  });
});

test("a file that appears after the start is picked up: a provider that was not there before is used, with its own key", async () => {
  await using fresh = await startGatewayProcess();
  expect((await statusOf(fresh)).pool.maxBecause).toContain("memory were free");
  const later = endpoint(provider, "fake-1", "a-key-that-came-later-42");
  await save(fresh, { ...later, agent: { ...later.agent, pool: { min: 0, max: 3 } } });
  await eventually(
    "the pool of the new file",
    () => statusOf(fresh),
    ({ pool }) => pool.max === 3,
  );
  expect((await fresh.chat("who came later")).body.content).toBe("I am fake-1");
  const request = provider.requests.find((one) => asked(one).includes("who came later"));
  expect(request?.authorization).toBe("Bearer a-key-that-came-later-42");
  expect(fresh.stderr()).not.toContain("a-key-that-came-later-42");
});

test("a changed token closes sockets of the old one, refuses it within seconds, and lets the new one in; password mode is taken over as well; a token that is taken away is not taken over, and the status says why", async () => {
  const config = (token: string) => ({ ...quiet, gateway: { auth: { token } } });
  await using locked = await startGatewayProcess({ config: config(OLD_TOKEN) });
  expect(locked.token).toBe(OLD_TOKEN);
  const socket = await openSocket(locked);
  await save(locked, config(NEW_TOKEN));
  const ask = (token: string) => locked.fetch("/api/status", { headers: { authorization: `Bearer ${token}` } });
  await eventually(
    "the old token is refused",
    async () => (await ask(OLD_TOKEN)).status,
    (status) => status === 401,
    TOKEN_CHANGE_MS,
  );
  expect((await ask(NEW_TOKEN)).status).toBe(200);
  expect(await socket.closed).toEqual({ code: 4001, reason: expect.stringContaining("Sign in again") });
  await expect(openSocket({ url: locked.url, token: OLD_TOKEN })).rejects.toThrow();
  (await openSocket({ url: locked.url, token: NEW_TOKEN })).close();

  const password = "a password of twelve";
  await save(locked, { ...quiet, gateway: { auth: { token: NEW_TOKEN, password, mode: "password" } } });
  const signIn = async (secret: string) => {
    const headers = { "content-type": "application/json", authorization: "" };
    const init = { method: "POST", headers, body: JSON.stringify({ secret }) };
    return (await locked.fetch("/api/sign-in", init)).status;
  };
  await eventually(
    "the new password is accepted",
    () => signIn(password),
    (status) => status === 204,
    TOKEN_CHANGE_MS,
  );
  expect([await signIn(NEW_TOKEN), (await ask(NEW_TOKEN)).status]).toEqual([401, 200]);

  await save(locked, { agent: quiet.agent });
  const notices = await eventually(
    "a notice about the token",
    async () => ((await (await ask(NEW_TOKEN)).json()) as GatewayStatus).notices,
    (seen) => seen.length > 0,
  );
  expect(notices).toEqual([expect.stringMatching(/would weaken how people sign in.*Restart/)]);
  expect((await ask(NEW_TOKEN)).status).toBe(200);
  expect((await locked.fetch("/api/status", { headers: { authorization: "" } })).status).toBe(401);
});

describe("a changed file", () => {
  test("that is broken changes nothing and is reported; corrected, it takes effect and the report goes", async () => {
    await begin(quiet);
    await save(gateway, '{ "agent": { "pool": { "min": 0, "max": 2 }, }, "queue": nonsense }');
    const notices = await eventually(
      "a notice about the broken file",
      () => noticesOf(gateway),
      (seen) => seen.length > 0,
    );
    expect(notices.join("\n")).toMatch(/pi-gateway\.jsonc:1:\d+/);
    expect((await statusOf(gateway)).pool.max).toBe(1);
    await save(gateway, { ...quiet, agent: { pool: { min: 0, max: 2 } } });
    const { notices: left } = await eventually(
      "the pool of the corrected file",
      () => statusOf(gateway),
      ({ pool }) => pool.max === 2,
    );
    expect(left).toEqual([]);
  });

  test("says which part waits for the next start", async () => {
    const config = (port: number) => ({ ...quiet, gateway: { port } });
    await begin(config(0));
    await save(gateway, config(18_790));
    const notices = await eventually(
      "a notice about the restart",
      () => noticesOf(gateway),
      (seen) => seen.length > 0,
    );
    expect(notices).toEqual(["gateway.port was changed; it takes effect at the next start."]);
    await gateway.fetch("/api/config/reload", { method: "POST" });
    expect(await noticesOf(gateway)).toEqual(notices);
    await save(gateway, config(0));
    await eventually(
      "no notice any more",
      () => noticesOf(gateway),
      (seen) => seen.length === 0,
    );
  });

  test("can ask for more detail in the log", async () => {
    await begin({ ...quiet, logging: { level: "warn" } });
    const already = gateway.stderr().length;
    await gateway.fetch("/api/no-such-thing");
    expect(gateway.stderr().slice(already)).not.toContain('"level":"debug"');
    await save(gateway, { ...quiet, logging: { level: "debug" } });
    await eventually(
      "a debug line in the log",
      async () => {
        await gateway.fetch("/api/no-such-thing");
        return gateway.stderr().slice(already);
      },
      (text) => text.includes('"level":"debug"'),
    );
  });

  test("is read at once when asked for, and the answer says what changed", async () => {
    await begin(quiet);
    await save(gateway, { ...quiet, agent: { pool: { min: 0, max: 1, waitMs: 5_000 } } });
    const report = await (await gateway.fetch("/api/config/reload", { method: "POST" })).json();
    // The file is watched as well: whoever comes second finds nothing left to do.
    expect([
      { changed: ["agent.pool.waitMs"], needsRestart: [], problems: [] },
      { changed: [], needsRestart: [], problems: [] },
    ]).toContainEqual(report as never);
    expect(await (await gateway.fetch("/api/config")).json()).toMatchObject({ agent: { pool: { waitMs: 5_000 } } });
  });
});
