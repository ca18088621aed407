/** What the model reads besides people's words: instructions that never change, and facts that go with the turn. Real gateway, real pi. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionSummary } from "../src/contracts/chat.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import {
  agentPids,
  asked,
  endpoint,
  eventually,
  FACTS,
  instructions,
  keyOf,
  statusOf,
  told,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const STATUS: FakeReply = { kind: "tools", calls: [{ name: "session_status", input: {} }] };
const ONE_AT_A_TIME = { min: 0, max: 1 } as const;

let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;

const skill = () => join(home.path, "tides");
function config(workspace: string) {
  const base = endpoint(provider);
  return {
    ...base,
    agent: { ...base.agent, pool: ONE_AT_A_TIME },
    agents: [{ id: "sailor", skills: [skill()], tools: "workspace" }],
    roles: { profiles: { owner: { workspace } } },
  };
}

beforeAll(async () => {
  provider = await startFakeProvider((request) => {
    const asksForTool = request.messages.at(-1)?.role === "user" && asked(request).startsWith("how");
    return asksForTool ? STATUS : says("All is well.");
  });
  home = await tempHome();
  await mkdir(skill());
  await writeFile(
    join(skill(), "SKILL.md"),
    "---\nname: tides\ndescription: Says when the tide turns.\n---\n\nLook at the moon.\n",
  );
  gateway = await startGatewayProcess({
    home: home.path,
    config: config(join(home.path, "owners")),
    env: { TZ: "Asia/Kolkata" },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

describe("the instructions", () => {
  test("are the same bytes in every turn, session, process and life of the gateway, and hold no time; no transcript is written where that is switched off", async () => {
    await using place = await tempHome();
    const pids = new Set<number>();
    await using own = await startFakeProvider(() => {
      for (const pid of agentPids(place.path)) pids.add(pid);
      return says("ok");
    });
    const base = endpoint(own);
    const settings = {
      ...base,
      agent: { ...base.agent, appendSystemPrompt: "Sign with a fish.", pool: { ...ONE_AT_A_TIME, maxSwitches: 1 } },
      logging: { transcripts: { enabled: false } },
    };
    for (const life of ["first", "second"]) {
      await using living = await startGatewayProcess({ home: place.path, config: settings });
      for (const session of life === "first" ? ["one", "two", "one"] : ["two"])
        expect((await living.chat(`${life} ${session}`, { session })).status).toBe(200);
      await living.stop();
    }
    expect(own.requests.length).toBe(4);
    expect(pids.size).toBeGreaterThan(2); // more processes than lives
    const all = new Set(own.requests.map((request) => instructions(request)));
    expect(all.size).toBe(1);
    const [text = ""] = all;
    expect(text).toContain("Sign with a fish.");
    expect(text).not.toMatch(/\d:\d\d|20\d\d-\d\d/);
    const tools = new Set(own.requests.map(({ body }) => JSON.stringify(body["tools"])));
    expect(tools.size).toBe(1);
    expect(existsSync(join(place.path, "logs", "transcripts"))).toBe(false);
  });

  test("of an agent with a skill and a role's folder name them; a folder that is changed while the gateway runs holds from the next turn on", async () => {
    const [owners, elsewhere] = [join(home.path, "owners"), join(home.path, "elsewhere")];
    const from = provider.requests.length;
    await gateway.chat("plain", { session: "folder" });
    await gateway.chat("at sea", { agent: "sailor" });
    const [plain, sailor] = provider.requests.slice(from).map(instructions);
    expect([plain?.includes("tide turns"), sailor?.includes("tide turns")]).toEqual([false, true]);
    expect([plain?.includes(owners), sailor?.includes(owners), existsSync(owners)]).toEqual([true, true, true]);
    expect(plain).not.toContain(elsewhere);

    await saveSettings(home.path, config(elsewhere));
    await eventually(
      "the new folder in the instructions",
      () => gateway.chat("after", { session: "folder" }),
      () => instructions(provider.requests.at(-1)).includes(elsewhere),
    );
    expect(instructions(provider.requests.at(-1))).not.toContain(owners);
  });
});

describe("the facts", () => {
  test("come with the first turn, and with the next one only the id of its message; people, lists and titles see their words alone", async () => {
    const from = provider.requests.length;
    for (const text of ["what time is it?", "/usr/bin/x and now?"]) await gateway.chat(text, { session: "clock" });
    const [first, second] = provider.requests.slice(from);
    if (!first || !second) throw new Error("the provider was not asked");
    const [, , facts = ""] = FACTS.exec(told(first)) ?? [];
    expect(facts).toMatch(
      /^time: 20\d\d-\d\d-\d\dT\d\d:\d\d\+05:30 \w+day \(Asia\/(Kolkata|Calcutta)\)\nchannel: api\nmessage: msg_\w+$/,
    );
    expect([asked(first), asked(second)]).toEqual(["what time is it?", "/usr/bin/x and now?"]);
    expect(FACTS.exec(told(second))?.[2]).toMatch(/^message: msg_\w+$/);

    const said = (await transcript(gateway, "clock")).filter(({ role }) => role === "user").map(({ text }) => text);
    expect(said).toEqual(["what time is it?", "/usr/bin/x and now?"]);
    const listed = await gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf("clock"))}`);
    const page = await listed.text();
    expect([page.includes("what time is it?"), page.includes("gateway-facts")]).toEqual([true, false]);
    const { items } = (await (await gateway.fetch("/api/sessions")).json()) as { items: SessionSummary[] };
    expect(items.find(({ key }) => key === keyOf("clock"))?.title).toBe("what time is it?");
    expect(JSON.stringify(items)).not.toContain("gateway-facts");
  });

  test("come again after /new, because the model has forgotten them", async () => {
    const from = provider.requests.length;
    for (const text of ["one", "two", "/new", "three"]) await gateway.chat(text, { session: "again" });
    expect(
      provider.requests.slice(from).map((request) => [asked(request), told(request).includes("\ntime: ")]),
    ).toEqual([
      ["one", true],
      ["two", false],
      ["three", true],
    ]);
    const { notices } = await statusOf(gateway);
    expect(notices.filter((notice) => !notice.startsWith("No wall"))).toEqual([]);
  });
});

test("the transcript on disk has each turn as people saw it, tools and cost included, without the facts and without the token", async () => {
  await gateway.chat("how are you?", { session: "record" });
  await gateway.chat(`my token is ${gateway.token}`, { session: "record" });
  const folder = join(home.path, "logs", "transcripts");
  const files = () =>
    (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.startsWith("agent_default_api_dm_record~"));
  const read = () => files().map((name) => readFileSync(join(folder, name), "utf8"));
  const [text = "", ...others] = await eventually(
    "both turns in the transcript file",
    read,
    (texts) => texts.join("").match(/^done after/gm)?.length === 2,
  );
  expect(others).toEqual([]);
  expect(text.match(/^> .*$/gm)).toEqual([
    "> how are you?",
    "> All is well.",
    "> my token is [redacted]",
    "> All is well.",
  ]);
  expect(text).toMatch(/^- `session_status` success, \d+ ms$/m);
  expect(text).toMatch(/^done after \d+ ms, fake\/fake-1, \d+ tokens in, \d+ out, \$0\.\d{4}$/m);
  expect([text.includes("gateway-facts"), text.includes(gateway.token)]).toEqual([false, false]);
});
