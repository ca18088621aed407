/** Every section of the configuration, changed in a running gateway: which settings take effect at once, and those that need a restart. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join, resolve } from "node:path";
import { sourceAssets } from "../src/assets.ts";
import { type Config, loadConfig, readEnvironment } from "../src/config/index.ts";
import { NEEDS_RESTART } from "../src/config/diff.ts";
import { ConfigSchema } from "../src/config/schema.ts";
import type { StorageReport } from "../src/contracts/storage.ts";
import type { GatewayStatus } from "../src/contracts/wire.ts";
import { type Gateway, startGateway } from "../src/gateway.ts";
import { systemClock } from "../src/kit/clock.ts";
import { systemIds } from "../src/kit/ids.ts";
import { NO_MASK } from "../src/kit/secret.ts";
import { createParlour } from "../src/testing/channels/parlour-service.ts";
import { parlourPlatform } from "../src/testing/channels/parlour.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { recordingLog } from "../src/testing/recording-log.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { asked, endpoint, eventually, WHOLE_TEST_MS } from "./whole-fixture.ts";
import { testSandbox } from "../src/testing/confined-run.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const HOOK_TOKEN = "the-token-of-hooks-in-this-test-71";
const MIB = 1024 * 1024;
const OWNED_BY_ANN = { roles: { owners: ["parlour:user:ann"] } };
const service = createParlour();
const log = recordingLog();
const logged: Config["logging"][] = [];
let home: TempHome;
let provider: FakeProvider;
let gateway: Gateway;
let token = "";
let updates = 0;

const base = () => ({ ...endpoint(provider), gateway: { port: 0 } });
/** As if the schema had a section for Parlour. */
const open = ({ channels, ...rest }: Config): Config => ({
  ...rest,
  channels: { ...channels, parlour: { dmPolicy: "open", allowFrom: ["*"] } } as Config["channels"],
});

beforeAll(async () => {
  home = await tempHome();
  provider = await startFakeProvider((request) => says(`I am ${String(request.body.model)}`));
  await cp(resolve(import.meta.dir, "../examples/hello-plugin"), join(home.path, "plugins", "hello-plugin"), {
    recursive: true,
  });
  const file = join(home.path, "pi-gateway.jsonc");
  await Bun.write(file, JSON.stringify(base()));
  const environment = readEnvironment({ HOME: home.path, PATH: process.env["PATH"] });
  const load = async () => {
    const loaded = await loadConfig({ log }, { home: home.path, flag: undefined, cwd: home.path, environment });
    return { ...loaded, config: open(loaded.config) };
  };
  const assets = sourceAssets();
  gateway = await startGateway(
    {
      clock: systemClock,
      ids: systemIds,
      log,
      hide: () => undefined,
      mask: NO_MASK,
      setLogging: (settings: Config["logging"]) => void logged.push(settings),
      scrub: (text: string) => text,
    },
    {
      home: home.path,
      version: "0.1.0",
      environment,
      console: await assets.console(),
      bun: assets.bun,
      bunEnv: {},
      bridgePath: await assets.bridgePath(home.path),
      sandbox: testSandbox(home.path),
      loaded: await load(),
      askRestart: () => false,
      configSource: { expectedPath: file, load },
      platforms: [{ id: "parlour", settings: () => ({}), load: async () => parlourPlatform(service) }],
    },
  );
  token = (await Bun.file(join(home.path, "token")).text()).trim();
});
afterAll(async () => {
  await gateway?.stop("test over");
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const call = (path: string, { headers, ...init }: RequestInit = {}) =>
  fetch(`${gateway.http.url}${path}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...init,
  });
const post = (path: string, body: unknown, init: RequestInit = {}) =>
  call(path, { method: "POST", body: JSON.stringify(body), ...init });
const json = async <T>(path: string) => (await (await call(path)).json()) as T;
const upload = async (bytes: number) =>
  (await call("/api/media", { method: "POST", body: new Uint8Array(bytes) })).status;

/** The reply to a command, which no agent is needed for. */
async function reply(text: string): Promise<string> {
  const before = service.shown("ann").length;
  service.say({ id: `u${++updates}`, kind: "message", by: "ann", chat: "ann", group: false, text });
  const shown = await eventually(
    `a reply to ${text}`,
    () => service.shown("ann"),
    (seen) => seen.length > before,
  );
  return shown.at(-1) ?? "";
}

/** The newest session of Ann, after a message of hers. */
async function sessionOfAnn(): Promise<string> {
  await reply("/help");
  const { items } = await json<{ items: { key: string; lastActivityAt: number }[] }>("/api/sessions?channel=parlour");
  return items.toSorted((one, other) => other.lastActivityAt - one.lastActivityAt)[0]?.key ?? "";
}

async function pluginTools(): Promise<readonly string[]> {
  const { items } = await json<{ items: { id: string; provides: { tools: string[] } }[] }>("/api/plugins");
  return items.find(({ id }) => id === "gateway")?.provides.tools ?? [];
}

interface Proof {
  readonly before?: object;
  readonly after: object;
  look(): Promise<unknown>;
  readonly seen: readonly [before: unknown, after: unknown];
}

const second = { agents: [{ id: "second" }] };
const job = { schedule: { kind: "every", expr: "1h" }, task: "look" };

/** The database is opened once. */
type AtStart = "$schema" | "store";

/** One proof for each section: what is seen before the reload, and right after its answer. */
const LIVE: Readonly<Record<Exclude<keyof Config, AtStart>, () => Proof>> = {
  gateway: () => ({
    after: { gateway: { port: 0, allowedHosts: ["bot.example.org"] } },
    look: async () => (await call("/health", { headers: { host: "bot.example.org" } })).status,
    seen: [421, 200],
  }),
  agent: () => ({
    after: { agent: { ...base().agent, pool: { min: 0, max: 3 } } },
    look: async () => (await json<GatewayStatus>("/api/status")).pool.max,
    seen: [2, 3],
  }),
  agents: () => ({
    after: second,
    look: async () => (await post("/api/cron/jobs", { ...job, agentId: "second" })).ok,
    seen: [false, true],
  }),
  bindings: () => ({
    before: second,
    after: { ...second, bindings: [{ agent: "second", channel: "parlour" }] },
    look: async () => (await sessionOfAnn()).split(":")[1],
    seen: ["default", "second"],
  }),
  roles: () => ({
    after: OWNED_BY_ANN,
    look: async () => (await reply("/sessions")).includes("owner"),
    seen: [true, false],
  }),
  session: () => ({
    before: OWNED_BY_ANN,
    after: { ...OWNED_BY_ANN, session: { dmScope: "main" } }, // a guest has no part in the main session
    look: async () => sessionOfAnn(),
    seen: ["agent:default:parlour:dm:ann", "agent:default:main"],
  }),
  channels: () => ({
    before: { channels: { webchat: { mediaMaxMb: 1 } } },
    after: { channels: { webchat: { mediaMaxMb: 3 } } },
    look: () => upload(2 * MIB),
    seen: [413, 200],
  }),
  models: () => ({
    after: endpoint(provider, "fake-2", "another-key-for-tests-77"),
    async look() {
      const before = provider.requests.length;
      await post("/api/chat", { text: "hello" });
      return provider.requests[before]?.authorization;
    },
    seen: ["Bearer a-key-for-tests-5521", "Bearer another-key-for-tests-77"],
  }),
  queue: () => ({
    before: { queue: { maxMessageChars: 1_000 } },
    after: { queue: { maxMessageChars: 3_000 } },
    look: async () => (await post("/api/chat", { text: `/help ${"x".repeat(2_000)}` })).status,
    seen: [413, 200],
  }),
  cron: () => ({
    after: { cron: { jobs: [{ id: "filed", ...job }] } },
    look: async () => (await call("/api/cron/jobs/filed")).status,
    seen: [404, 200],
  }),
  heartbeat: () => ({
    after: { heartbeat: { enabled: true, every: "1s", prompt: "Heartbeat: is all well?" } },
    async look() {
      const { heartbeat } = await json<Config>("/api/config");
      if (!heartbeat.enabled) return false;
      const beats = () => provider.requests.some((request) => asked(request).startsWith("Heartbeat: is all well?"));
      return eventually("a heartbeat run of the new settings", beats, Boolean, 25_000);
    },
    seen: [false, true],
  }),
  budget: () => ({
    before: { budget: { dailyTokens: 1_000_000 } },
    after: { budget: { dailyTokens: 0 } },
    look: async () => (await post("/api/chat", { text: "hello again" })).ok,
    seen: [true, false],
  }),
  hooks: () => ({
    after: { hooks: { enabled: true, token: HOOK_TOKEN } },
    async look() {
      const headers = { authorization: `Bearer ${HOOK_TOKEN}` };
      return (await post("/hooks/wake", { text: "news", mode: "next-heartbeat" }, { headers })).status;
    },
    seen: [401, 202],
  }),
  tools: () => ({
    after: { tools: { webFetch: { enabled: true } } },
    look: async () => (await pluginTools()).includes("web_fetch"),
    seen: [false, true],
  }),
  media: () => ({
    before: { media: { maxMb: 1 } },
    after: { media: { maxMb: 3 } },
    look: () => upload(2 * MIB),
    seen: [413, 200],
  }),
  plugins: () => ({
    after: { plugins: { enabled: ["hello-plugin"] } },
    async look() {
      const { items } = await json<{ items: { id: string; state: string }[] }>("/api/plugins");
      return items.find(({ id }) => id === "hello-plugin")?.state;
    },
    seen: ["available", "running"],
  }),
  mcp: () => ({
    after: { mcp: { servers: { absent: { command: "/no/such/program", startMs: "1s" } } } },
    look: async () => (await json<{ items: { name: string }[] }>("/api/mcp")).items.map(({ name }) => name),
    seen: [[], ["absent"]],
  }),
  logging: () => ({
    after: { logging: { level: "debug", file: false, retentionDays: 2 } },
    look: async () => logged.at(-1)?.retentionDays ?? 14,
    seen: [14, 2],
  }),
  observe: () => ({
    after: { observe: { otel: { endpoint: "http://127.0.0.1:1" } } },
    look: async () => log.lines.some(({ words }) => words === "telemetry is exported"),
    seen: [false, true],
  }),
  retention: () => ({
    after: { retention: { messagesDays: 90 } },
    look: async () =>
      (await json<StorageReport>("/api/storage")).kinds.find(({ kind }) => kind === "messages")?.keepDays,
    seen: [730, 90],
  }),
  backup: () => ({
    after: { backup: { every: "1d" } },
    look: async () => (await json<GatewayStatus>("/api/status")).backup.everyMs,
    seen: [null, 86_400_000],
  }),
  notifications: () => ({
    after: { notifications: { enabled: false } },
    look: async () => (await json<{ enabled: boolean }>("/api/notifications")).enabled,
    seen: [true, false],
  }),
};

test("every section of the schema has a proof that a change of it takes effect at once", () => {
  const sections = Object.keys(ConfigSchema.properties).filter((key) => key !== "$schema" && key !== "store");
  expect(Object.keys(LIVE).toSorted()).toEqual(sections.toSorted());
  expect([...NEEDS_RESTART]).toEqual(["gateway.port", "gateway.bind", "store.url", "store.secret", "store.files"]);
});

async function reload(settings: object): Promise<void> {
  await Bun.write(join(home.path, "pi-gateway.jsonc"), JSON.stringify({ ...base(), ...settings }));
  const report = (await (await post("/api/config/reload", {})).json()) as { problems: unknown; needsRestart: unknown };
  expect(report).toMatchObject({ problems: [], needsRestart: [] });
}

test.each(Object.keys(LIVE) as (keyof typeof LIVE)[])(
  "a change of %s takes effect with the reload",
  async (section) => {
    const { before = {}, after, look, seen } = LIVE[section]();
    await reload(before);
    const old = await look();
    await reload(after);
    expect([old, await look()]).toEqual([...seen]);
  },
);
