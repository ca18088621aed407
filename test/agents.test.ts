/** Several agents in one gateway: what the provider receives proves whose instructions and model were used. Real gateway, real pi. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeProvider, type ProviderRequest, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import {
  agentPids,
  asked,
  endpoint,
  eventually,
  openSocket,
  post,
  problemOf,
  statusOf,
  textOf,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const PIRATE = "You are a pirate and say arr.";
const JUDGE = "You are a judge and say objection.";

let provider: FakeProvider;
let gateway: GatewayProcess;

beforeAll(async () => {
  provider = await startFakeProvider(() => says("noted"));
  const base = endpoint(provider);
  gateway = await startGatewayProcess({
    config: {
      ...base,
      agent: { ...base.agent, systemPrompt: JUDGE, pool: { min: 0, max: 2 } },
      agents: [
        { id: "pirate", model: "fake/fake-2", systemPrompt: PIRATE },
        { id: "twin" },
        { id: "broken", model: "nowhere/nothing" },
      ],
      bindings: [{ agent: "pirate", channel: "api", chat: "harbour" }],
    },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

async function say(text: string, to: { readonly session?: string; readonly agent?: string }) {
  const response = await post(gateway, { text, ...to });
  const { sessionKey } = (await response.json()) as { sessionKey?: string };
  return { status: response.status, sessionKey };
}

const requestOf = (words: string): ProviderRequest | undefined =>
  provider.requests.find((request) => asked(request).includes(words));
const systemOf = (words: string): string =>
  textOf(requestOf(words)?.messages.find(({ role }) => role === "system" || role === "developer")?.content);
const modelOf = (words: string): unknown => requestOf(words)?.body["model"];
const commandLines = (): readonly string[] =>
  agentPids(gateway.home).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));

describe("a message", () => {
  test("without an agent is answered by the default one, with its instructions and model", async () => {
    const answer = await say("who are you, default?", { session: "court" });
    expect(answer).toEqual({ status: 200, sessionKey: "agent:default:api:dm:court" });
    expect([systemOf("default?").includes(JUDGE), modelOf("default?")]).toEqual([true, "fake-1"]);
  });

  test("to another agent is answered with that one's instructions and model", async () => {
    const answer = await say("who are you, pirate?", { session: "court", agent: "pirate" });
    expect(answer).toEqual({ status: 200, sessionKey: "agent:pirate:api:dm:court" });
    expect([systemOf("pirate?").includes(PIRATE), systemOf("pirate?").includes(JUDGE), modelOf("pirate?")]).toEqual([
      true,
      false,
      "fake-2",
    ]);
    expect(existsSync(join(gateway.home, "agents", "pirate", "settings.json"))).toBe(true);
  });

  test("in a session that is bound to an agent is answered by it", async () => {
    const { sessionKey } = await say("who are you, bound one?", { session: "harbour" });
    expect([sessionKey, modelOf("bound one?")]).toEqual(["agent:pirate:api:dm:harbour", "fake-2"]);
    const read = await gateway.fetch("/api/sessions/harbour/transcript");
    expect(((await read.json()) as { items: unknown[] }).items.length).toBe(2);
  });

  test("from the web console reaches the agent its session names", async () => {
    const socket = await openSocket(gateway);
    const params = { session: "agent:pirate:webchat:dm:deck", text: "who are you, on deck?", clientId: "deck-1" };
    expect(await socket.request("chat.send", params)).toMatchObject({ sessionKey: "agent:pirate:webchat:dm:deck" });
    await socket.until("the end of the turn", (events) => events.some(({ event }) => event === "turn.ended"));
    socket.close();
    expect(modelOf("on deck?")).toBe("fake-2");
  });

  test("to an agent that does not exist is refused with a sentence, and nothing is stored", async () => {
    for (const body of [{ agent: "pirat" }, { session: "agent:pirat:api:dm:x" }]) {
      expect(await problemOf(await post(gateway, { text: "who are you, nobody?", ...body }))).toEqual({
        status: 422,
        code: "invalid_params",
        message: 'There is no agent "pirat". Choose one of: default, pirate, twin, broken.',
      });
    }
    const key = encodeURIComponent("agent:pirat:api:dm:x");
    expect((await gateway.fetch(`/api/sessions/${key}`)).status).toBe(404);
    expect(requestOf("nobody?")).toBeUndefined();
  });
});

describe("processes", () => {
  test("are never shared between agents that differ, and are between agents that do not", async () => {
    await gateway.chat("first, default", { session: "one" });
    await eventually(
      "its process rests",
      () => statusOf(gateway),
      ({ pool }) => pool.busy === 0, // an answer comes before that, and the next message would get another process
    );
    const before = commandLines().filter((line) => !line.includes("agents/pirate"));
    await post(gateway, { text: "second, twin", agent: "twin" });
    expect(commandLines().filter((line) => !line.includes("agents/pirate"))).toEqual(before);
    await post(gateway, { text: "third, pirate", agent: "pirate" });
    expect(commandLines().some((line) => line.includes("agents/pirate"))).toBe(true);
    expect(systemOf("second, twin")).toContain(JUDGE);
    expect(systemOf("third, pirate")).toContain(PIRATE);
  });

  test("many sessions of two agents at once get their own instructions in two processes", async () => {
    const names = Array.from({ length: 12 }, (_, index) => index);
    const answers = names.map((n) =>
      post(gateway, { text: `crowd ${n}.`, session: `crowd-${n}`, agent: n % 2 === 0 ? "default" : "pirate" }),
    );
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(names.map(() => 200));
    const prompts = names.map((n) => systemOf(`crowd ${n}.`).includes(n % 2 === 0 ? JUDGE : PIRATE));
    expect(prompts).toEqual(names.map(() => true));
    expect(agentPids(gateway.home).length).toBeLessThanOrEqual(2);
  });

  test("of an agent that cannot start hold nobody else back", async () => {
    const broken = await problemOf(await post(gateway, { text: "anybody there?", agent: "broken" }));
    expect(broken.code).toBe("model_missing");
    expect((await gateway.chat("still there?", { session: "court" })).status).toBe(200);
    const { notices, model } = await statusOf(gateway);
    expect(notices.some((notice) => notice.startsWith("Agent broken: "))).toBe(true);
    expect(model.name).toBe("fake/fake-1");
  });
});

describe("an agent that comes and goes while the gateway runs", () => {
  test("answers as soon as it is in the file, is refused when it has left, and what it said stays readable", async () => {
    const base = { ...endpoint(provider), agents: [] as object[] };
    await using other = await startGatewayProcess({ config: base });
    const save = (agents: object[]) => saveSettings(other.home, { ...base, agents });
    const ask = async () => (await post(other, { text: "are you late?", agent: "late", session: "tea" })).status;

    expect(await ask()).toBe(422);
    await save([{ id: "late", model: "fake/fake-2" }]);
    await eventually("the new token is accepted", ask, (status) => status === 200);
    expect(modelOf("are you late?")).toBe("fake-2");
    await save([]);
    await eventually("the file that is too large is refused", ask, (status) => status === 422);
    const read = await other.fetch(`/api/sessions/${encodeURIComponent("agent:late:api:dm:tea")}/transcript`);
    expect(((await read.json()) as { items: unknown[] }).items.length).toBeGreaterThanOrEqual(2);
  });
});
