/** A member who is removed by a hot reload, in the middle of a turn of a real agent: nothing more is called for them, and they read why. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { ERRORS } from "../src/contracts/errors.ts";
import { tempHome, type TempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import { parrotChannel, pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { endpoint, eventually, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** Runs until the gateway stops it; says how often it was called and stopped. */
const SLOW_TOOL = `const told = { called: 0, stopped: 0 };
  api.registerRoute({ method: "GET", path: "/told", handle: () => told });
  api.registerTool({ name: "slow_echo", description: "Waits.", parameters: { type: "object", properties: {} },
    flags: { idempotent: true },
    execute: (_id, _params, signal) => new Promise((_, reject) => {
      told.called++;
      signal.addEventListener("abort", () => { told.stopped++; reject(signal.reason); });
    }) });`;

const call: FakeReply = { kind: "tools", calls: [{ name: "slow_echo", input: {} }] };
let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;

const configOf = (members: readonly string[]) => {
  const { agent, models } = endpoint(provider);
  const plugins = { enabled: ["parrot", "slow"] };
  return { models, agent: { ...agent, pool: { min: 0, max: 2 } }, plugins, roles: { members } };
};

beforeAll(async () => {
  provider = await startFakeProvider((request) =>
    request.messages.some(({ role }) => role === "tool") ? says("a secret") : call,
  );
  home = await tempHome();
  await putPlugin(home.path, { id: "parrot", body: parrotChannel() });
  await putPlugin(home.path, { id: "slow", body: SLOW_TOOL });
  gateway = await startGatewayProcess({ home: home.path, config: configOf(["parrot:user:pip"]) });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

test("a removed member's running tool and turn are stopped, the model is not asked again, and no answer is sent", async () => {
  const read = async <T>(path: string) => (await (await gateway.fetch(path)).json()) as T;
  const told = () => read<{ called: number; stopped: number }>("/plugins/slow/told");
  const said = () => read<readonly string[]>("/plugins/parrot/said");
  await eventually(
    "the channel of the plugin runs",
    async () => (await pluginsOf(gateway)).get("parrot")?.state,
    (state) => state === "running",
  );
  const body = JSON.stringify({ by: "pip", text: "go", id: "1" });
  const write = async () => (await fetch(`${gateway.url}/parrot/main`, { method: "POST", body })).json();
  await eventually("the message is queued", write, (answer) => JSON.stringify(answer).includes("queued"));
  await eventually("the tool is called", told, ({ called }) => called === 1);
  const asked = provider.requests.length;

  await saveSettings(home.path, configOf([]));
  expect((await gateway.fetch("/api/config/reload", { method: "POST" })).status).toBe(200);

  await eventually("something is said", said, (words) => words.length > 0);
  expect(await said()).toEqual([`pip: ${ERRORS.access_revoked.say}`]);
  expect(await told()).toEqual({ called: 1, stopped: 1 });
  expect(provider.requests.length).toBe(asked);
});
