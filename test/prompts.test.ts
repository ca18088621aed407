/** What the model reads besides people's words: instructions that never change, and facts that go with the turn. Real gateway, real pi. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionSummary } from "../src/contracts/chat.ts";
import { type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import {
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

describe("the instructions", () => {
  test("are the same bytes in every turn, session, process and life of the gateway, and hold no time", async () => {
    await using provider = await startFakeProvider(() => says("ok"));
    await using home = await tempHome();
    const base = endpoint(provider);
    const config = {
      ...base,
      agent: { ...base.agent, appendSystemPrompt: "Sign with a fish.", pool: { min: 1, max: 2, maxSwitches: 1 } },
    };
    for (const life of ["first", "second"]) {
      await using gateway = await startGatewayProcess({ home: home.path, config });
      for (const session of ["one", "two", "one"]) await gateway.chat(`${life} ${session}`, { session });
      await gateway.stop();
    }
    expect(provider.requests.length).toBe(6);
    const all = new Set(provider.requests.map((request) => instructions(request)));
    expect(all.size).toBe(1);
    const [text = ""] = all;
    expect(text).toContain("Sign with a fish.");
    expect(text).not.toMatch(/\d:\d\d|20\d\d-\d\d/);
    const tools = new Set(provider.requests.map(({ body }) => JSON.stringify(body["tools"])));
    expect(tools.size).toBe(1);
  });

  test("of an agent with a skill and a role's folder name them", async () => {
    await using provider = await startFakeProvider(() => says("ok"));
    await using home = await tempHome();
    const skill = join(home.path, "tides");
    await mkdir(skill);
    await writeFile(
      join(skill, "SKILL.md"),
      "---\nname: tides\ndescription: Says when the tide turns.\n---\n\nLook at the moon.\n",
    );
    const workspace = join(home.path, "owners");
    await using gateway = await startGatewayProcess({
      home: home.path,
      config: {
        ...endpoint(provider),
        agents: [{ id: "sailor", skills: [skill], tools: "workspace" }],
        roles: { profiles: { owner: { workspace } } },
      },
    });
    await gateway.chat("plain");
    await gateway.chat("at sea", { agent: "sailor" });
    const [plain, sailor] = provider.requests.map(instructions);
    expect([plain?.includes("tide turns"), sailor?.includes("tide turns")]).toEqual([false, true]);
    expect([plain?.includes(workspace), sailor?.includes(workspace), existsSync(workspace)]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

test("a role's folder that is changed while the gateway runs holds from the next turn on", async () => {
  await using provider = await startFakeProvider(() => says("ok"));
  await using gateway = await startGatewayProcess({ config: endpoint(provider) });
  const workspace = join(gateway.home, "elsewhere");
  const changed = { ...endpoint(provider), roles: { profiles: { owner: { workspace } } } };
  await gateway.chat("before");
  await writeFile(join(gateway.home, "pi-gateway.jsonc"), JSON.stringify(changed));
  await eventually(
    () => gateway.chat("after"),
    () => instructions(provider.requests.at(-1)).includes(workspace),
  );
  expect(instructions(provider.requests[0])).not.toContain(workspace);
});

describe("the facts", () => {
  test("come with the first turn and not with the next; people, lists and titles see their words alone", async () => {
    await using provider = await startFakeProvider(() => says("ok"));
    await using gateway = await startGatewayProcess({ config: endpoint(provider), env: { TZ: "Asia/Kolkata" } });
    for (const text of ["what time is it?", "/gw-x and now?"]) await gateway.chat(text, { session: "clock" });
    const [first, second] = provider.requests;
    if (!first || !second) throw new Error("the provider was not asked");
    const [, , facts = ""] = FACTS.exec(told(first)) ?? [];
    expect(facts).toMatch(
      /^time: 20\d\d-\d\d-\d\dT\d\d:\d\d\+05:30 \w+day \(Asia\/(Kolkata|Calcutta)\)\nchannel: api$/,
    );
    expect([asked(first), told(second)]).toEqual(["what time is it?", " /gw-x and now?"]);

    const said = (await transcript(gateway, "clock")).filter(({ role }) => role === "user").map(({ text }) => text);
    expect(said).toEqual(["what time is it?", "/gw-x and now?"]);
    const listed = await gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf("clock"))}`);
    const page = await listed.text();
    expect([page.includes("what time is it?"), page.includes("gateway-facts")]).toEqual([true, false]);
    const { items } = (await (await gateway.fetch("/api/sessions")).json()) as { items: SessionSummary[] };
    expect(items.map(({ title }) => title)).toEqual(["what time is it?"]);
  });

  test("come again after /new, because the model has forgotten them", async () => {
    await using provider = await startFakeProvider(() => says("ok"));
    await using gateway = await startGatewayProcess({ config: endpoint(provider) });
    for (const text of ["one", "two", "/new", "three"]) await gateway.chat(text, { session: "again" });
    expect(provider.requests.map((request) => [asked(request), FACTS.test(told(request))])).toEqual([
      ["one", true],
      ["two", false],
      ["three", true],
    ]);
    expect((await statusOf(gateway)).notices).toEqual([]);
  });
});

describe("the transcript on disk", () => {
  const STATUS: FakeReply = { kind: "tools", calls: [{ name: "session_status", input: {} }] };

  test("has each turn as people saw it, tools and cost included, without the facts and without the token", async () => {
    await using provider = await startFakeProvider((request) =>
      request.messages.at(-1)?.role === "user" && asked(request).startsWith("how") ? STATUS : says("All is well."),
    );
    await using gateway = await startGatewayProcess({ config: endpoint(provider) });
    await gateway.chat("how are you?", { session: "record" });
    await gateway.chat(`my token is ${gateway.token}`, { session: "record" });
    await gateway.stop();
    const folder = join(gateway.home, "logs", "transcripts");
    const [file = "", ...others] = readdirSync(folder);
    const text = readFileSync(join(folder, file), "utf8");
    expect([others, file.startsWith("agent_default_api_dm_record~")]).toEqual([[], true]);
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

  test("is not written when it is switched off", async () => {
    await using provider = await startFakeProvider(() => says("ok"));
    const config = { ...endpoint(provider), logging: { transcripts: { enabled: false } } };
    await using gateway = await startGatewayProcess({ config });
    expect((await gateway.chat("hello")).status).toBe(200);
    await gateway.stop();
    expect(existsSync(join(gateway.home, "logs", "transcripts"))).toBe(false);
  });
});
