/** A platform without buttons in a whole gateway with real pi: a stranger writes, is let in, is answered there, and answers what is asked. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { sourceAssets } from "../src/assets.ts";
import type { Config, LoadedConfig } from "../src/config/index.ts";
import { loadConfig, readEnvironment } from "../src/config/index.ts";
import type { GatewayStatus } from "../src/contracts/wire.ts";
import { type Gateway, startGateway } from "../src/gateway.ts";
import { systemClock } from "../src/kit/clock.ts";
import { systemIds } from "../src/kit/ids.ts";
import { NO_MASK } from "../src/kit/secret.ts";
import { createParlour } from "../src/testing/channels/parlour-service.ts";
import { parlourPlatform } from "../src/testing/channels/parlour.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { recordingLog } from "../src/testing/recording-log.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { ASKING_EXTENSION, ASKING_TOOLS } from "./asking-extension.ts";
import { asked, endpoint, eventually, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";
import { testSandbox } from "../src/testing/confined-run.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const service = createParlour();
const log = recordingLog();
let opened = 0;
let policy: object | null = { dmPolicy: "pairing" };
let home: TempHome;
let provider: FakeProvider;
let gateway: Gateway;
let token = "";

/** As if the schema had a section for Parlour. */
function withParlour(loaded: LoadedConfig): LoadedConfig {
  const channels = { ...loaded.config.channels, ...(policy ? { parlour: policy } : {}) };
  return { ...loaded, config: { ...loaded.config, channels } };
}

const ASK: FakeReply = { kind: "tools", calls: [{ name: "ask_choice", input: {} }] };
const settings = ({ channels }: Config): unknown => ("parlour" in channels ? channels.parlour : null);

beforeAll(async () => {
  home = await tempHome();
  provider = await startFakeProvider((request) => {
    const last = request.messages.at(-1);
    if (last?.role === "tool") return says(`got ${textOf(last.content)}`);
    return asked(request) === "ask_choice" ? ASK : says("an answer from the model");
  });
  const file = join(home.path, "pi-gateway.jsonc");
  const extension = join(home.path, "asking.ts");
  await Bun.write(extension, ASKING_EXTENSION);
  const base = endpoint(provider);
  const agent = { ...base.agent, extensions: [extension], tools: ASKING_TOOLS, pool: { min: 1, max: 2 } };
  const tools = { approvals: { never: ASKING_TOOLS } };
  await Bun.write(file, JSON.stringify({ ...base, agent, tools, gateway: { port: 0 } }));
  const environment = readEnvironment({ HOME: home.path, PATH: process.env["PATH"] });
  const load = async () =>
    withParlour(await loadConfig({ log }, { home: home.path, flag: undefined, cwd: home.path, environment }));
  const assets = sourceAssets();
  gateway = await startGateway(
    {
      clock: systemClock,
      ids: systemIds,
      log,
      setLogging: () => undefined,
      hide: () => undefined,
      scrub: (text) => text,
      mask: NO_MASK,
    },
    {
      home: home.path,
      version: "test",
      environment,
      console: await assets.console(),
      bun: assets.bun,
      bunEnv: {},
      bridgePath: await assets.bridgePath(home.path),
      sandbox: testSandbox(home.path),
      loaded: await load(),
      askRestart: () => false,
      configSource: { expectedPath: file, load },
      platforms: [
        {
          id: "parlour",
          settings,
          async load() {
            opened++;
            return parlourPlatform(service);
          },
        },
        {
          id: "broken",
          settings: () => ({}),
          load: () => Promise.reject(new Error("its library is missing")),
        },
      ],
    },
  );
  token = (await Bun.file(join(home.path, "token")).text()).trim();
  await eventually("an idle agent", status, ({ pool }) => pool.idle > 0, WHOLE_TEST_MS / 2); // a start is not what is measured here
});

afterAll(async () => {
  service.trouble = null;
  await gateway?.stop("test over");
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const call = (path: string, body?: unknown) =>
  fetch(`${gateway.http.url}${path}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
const status = async () => (await (await call("/api/status")).json()) as GatewayStatus;
let updates = 0;
const say = (by: string, text: string, more: { group?: boolean } = {}) => {
  const group = more.group ?? false;
  service.say({ id: `u${++updates}`, kind: "message", by, chat: group ? "the-group" : by, group, text });
  return `u${updates}`;
};

test("a platform that does not open shows in the status, and the others work", async () => {
  const seen = await eventually("the channel parlour is open", status, ({ channels }) =>
    channels.some(({ id, ok }) => id === "parlour" && ok),
  );
  expect(seen.channels.find(({ id }) => id === "broken")).toEqual({
    id: "broken",
    ok: false,
    detail: "its library is missing",
  });
  expect(seen.channels.find(({ id }) => id === "webchat")?.ok).toBe(true);
});

test("a stranger gets a code and nothing else; approved as an owner, they are answered by a real agent", async () => {
  const first = say("ann", "hello there");
  await eventually(
    "one message to Ann",
    () => service.shown("ann"),
    (shown) => shown.length === 1,
  );
  const code = /[A-Z2-9]{8}$/.exec(service.shown("ann")[0] ?? "")?.[0] ?? "";
  const again = say("ann", "please");
  await eventually("the repeated message is confirmed", () => service.confirmed(again), Boolean);
  expect(service.confirmed(first)).toBe(true);
  expect(service.shown("ann")).toHaveLength(1);
  expect(provider.requests).toHaveLength(0);

  const { items } = (await (await call("/api/pairing")).json()) as {
    items: { id: string; principal: string; state: string }[];
  };
  expect(items).toMatchObject([{ principal: "parlour:user:ann", state: "pending" }]);
  expect((await call(`/api/pairing/${items[0]?.id}`, { decision: "approve", role: "owner" })).status).toBe(422);
  expect((await call("/api/pairing", { code: "AAAAAAAA", role: "owner" })).status).toBe(404);
  const approved = await call("/api/pairing", { code: code.toLowerCase(), role: "owner" });
  expect(await approved.json()).toMatchObject({ person: { principal: "parlour:user:ann" }, role: "owner" });

  say("ann", "what do you know?");
  await eventually(
    "the answer to Ann",
    () => service.shown("ann"),
    (shown) => shown.includes("an answer from the model"),
  );
  expect(provider.requests.map(asked).some((words) => words.includes("what do you know?"))).toBe(true);
  expect(provider.requests.map(asked).some((words) => words.includes("hello there"))).toBe(false);
});

test("the running gateway says where a message of a person paired by a code would go, and that a stranger's would not", async () => {
  const where = async (who: string) => {
    const asked = { channel: "parlour", account: "default", chat: who, peer: `parlour:user:${who}`, scope: "dm" };
    return (await (await call("/api/route", { ...asked, mentioned: true })).json()) as { verdict: object };
  };
  expect((await where("ann")).verdict).toMatchObject({ kind: "accept", role: "owner" });
  expect((await where("nobody")).verdict).toMatchObject({ kind: "refuse" });
});

test("a question of an extension is a list with numbers there, and a number answers it", async () => {
  const sees = (words: string) =>
    eventually(
      `"${words}" in Ann's chat`,
      () => service.shown("ann"),
      (shown) => shown.some((text) => text.includes(words)),
    );
  say("ann", "ask_choice");
  await sees("Which one?\n1. tea\n2. coffee\nAnswer with a number from 1 to 2.");
  say("ann", "milk");
  await sees("That is none of the answers.");
  say("ann", "2");
  await sees('got "coffee"');
  const words = provider.requests.map(asked);
  expect(words.filter((text) => text === "2" || text === "milk")).toEqual([]);
});

test("an owner lets somebody in from the chat, and that person is a member", async () => {
  say("bob", "me too");
  await eventually(
    "one message to Bob",
    () => service.shown("bob"),
    (shown) => shown.length === 1,
  );
  const code = /[A-Z2-9]{8}$/.exec(service.shown("bob")[0] ?? "")?.[0] ?? "";
  say("ann", `/pair ${code}`);
  const told = await eventually(
    "Ann hears that Bob is a member",
    () => service.shown("ann"),
    (shown) => shown.some((text) => text.includes("as a member")),
  );
  expect(told.at(-1)).toContain("parlour:user:bob");
  say("bob", "/pair ABCD2345");
  await eventually(
    "the answer to Bob",
    () => service.shown("bob"),
    (shown) => shown.some((text) => text.includes("for the owner")),
  );
});

test("strangers in a group, and whoever has somebody's name, cause nothing", async () => {
  const [calls, asks] = [service.calls.length, provider.requests.length];
  const ids = [
    say("eve", "hello", { group: true }),
    say("bob", "hello", { group: true }),
    say("Ann", "hi", { group: true }),
  ];
  await eventually("every message is confirmed", () => ids.every(service.confirmed), Boolean);
  expect(service.calls.length).toBe(calls);
  expect(provider.requests.length).toBe(asks);
});

test("withdrawn, they are strangers again", async () => {
  const { items } = (await (await call("/api/pairing")).json()) as { items: { id: string; principal: string }[] };
  const bob = items.find(({ principal }) => principal.endsWith(":bob"));
  expect((await call(`/api/pairing/${bob?.id}`, { decision: "revoke" })).status).toBe(200);
  const calls = service.calls.length;
  const id = say("bob", "still there?");
  await eventually("the message is confirmed", () => service.confirmed(id), Boolean);
  expect(service.calls.length).toBe(calls);
});

test("a reload closes the platform that is off now, and opens it again when it is on", async () => {
  policy = null;
  await call("/api/config/reload", {});
  await eventually(
    "the channel parlour is closed",
    status,
    ({ channels }) => !channels.some(({ id }) => id === "parlour"),
  );
  await eventually(
    "no connection to the service",
    () => service.connections(),
    (count) => count === 0,
  );
  policy = { dmPolicy: "pairing" };
  await call("/api/config/reload", {});
  await eventually("the channel parlour is open again", status, ({ channels }) =>
    channels.some(({ id, ok }) => id === "parlour" && ok),
  );
  expect(opened).toBe(2);
});
