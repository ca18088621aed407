/** The heartbeat in a whole gateway with real pi: what is asked, what is shown, and what it costs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import { asked, endpoint, eventually, post, told, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const CHARS_PER_TOKEN = 4;
/** At the default interval, as src/automation/heartbeat/heartbeat.test.ts counts them. */
const BEATS_ALONE = 144;

let provider: FakeProvider;
let gateway: GatewayProcess;
/** What heartbeat runs are answered with. */
let reply: FakeReply = says("HEARTBEAT_OK");
const beats = () => provider.requests.filter((request) => told(request).includes("\nheartbeat: now"));

beforeAll(async () => {
  provider = await startFakeProvider((request) => {
    if (!asked(request).startsWith("Heartbeat:")) return says("noted");
    return reply;
  });
  gateway = await startGatewayProcess({ config: settings({ enabled: true, every: "1s" }) });
});
const settings = (heartbeat: object, agents: readonly object[] = []) => ({
  ...endpoint(provider),
  heartbeat,
  agents,
  logging: { level: "debug" },
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

/** Beats that were left out for this reason, as the log has them. */
const leftOut = (because: "idle" | "empty" | "refused"): number =>
  gateway
    .stderr()
    .split("\n")
    .filter((line) => line.includes('"heartbeat left out"') && line.includes(`"because":"${because}"`)).length;

/** So many more beats fall due and are left out. One that was under way is over then: nothing is decided while it is. */
async function moreLeftOut(because: "idle" | "empty", count: number): Promise<void> {
  const before = leftOut(because);
  await eventually(
    `${count} more heartbeat runs left out (${because})`,
    () => leftOut(because),
    (seen) => seen >= before + count,
    30_000,
  );
}

const checklist = async (text: string): Promise<void> => {
  await mkdir(join(gateway.home, "workspace"), { recursive: true });
  await writeFile(join(gateway.home, "workspace", "HEARTBEAT.md"), text);
};

test("a heartbeat asks no model and shows nothing before anybody has said anything", async () => {
  await checklist("- is the stove off?");
  await moreLeftOut("idle", 2);
  expect(beats().length).toBe(0);
});

test("a heartbeat run that finds nothing is not shown", async () => {
  await post(gateway, { text: "hello", session: "den" });
  await eventually(
    "a heartbeat run",
    () => beats().length,
    (count) => count > 0,
    30_000,
  );
  const [beat] = beats();
  const size = JSON.stringify(beat?.body).length;
  const tokens = Math.ceil(size / CHARS_PER_TOKEN);
  console.info(`one beat: ${size} characters to the model, about ${tokens} tokens`);
  console.info(
    `a week alone: ${BEATS_ALONE} model calls, about ${BEATS_ALONE * tokens} tokens; with an empty checklist: 0`,
  );
  expect(beat?.messages.filter(({ role }) => role === "user").length).toBe(1); // a fresh session, no old talk
  expect(beat && asked(beat)).toContain("is the stove off?");
  expect((await transcript(gateway, "den")).map(({ text }) => text)).toEqual(["hello", "noted"]);
});

test("heartbeat runs that find the same thing again and again say it in the conversation exactly once", async () => {
  const found = "The stove is still on.";
  reply = says(found);
  await eventually(
    "the finding in the conversation",
    () => transcript(gateway, "den"),
    (items) => items.some(({ text }) => text === found),
    30_000,
  );
  const after = beats().length;
  await eventually(
    "two more heartbeat runs",
    () => beats().length,
    (count) => count >= after + 2,
    30_000,
  );
  expect((await transcript(gateway, "den")).filter(({ text }) => text === found)).toHaveLength(1);
  expect(beats().map(told).at(-1)).toContain("Reported already");
  reply = says("HEARTBEAT_OK");
});

test("sessions of heartbeat runs are neither in /resume nor in /sessions", async () => {
  for (const command of ["/resume", "/sessions"])
    expect((await gateway.chat(command, { session: "den" })).body.content).not.toContain("Heartbeat:");
});

test("a provider that rejects the key of heartbeat runs is reported once, by name", async () => {
  reply = { kind: "status", status: 401, message: "Incorrect API key provided" };
  const before = beats().length;
  await eventually(
    "three more heartbeat runs, and then none",
    () => leftOut("refused"),
    (count) => count > 1,
    40_000,
  );
  expect(beats().length - before).toBeLessThanOrEqual(4); // one may have been on its way
  const reports = (await transcript(gateway, "den")).filter(({ text }) => text.includes("heartbeat"));
  expect(reports.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^The heartbeat of default does not work: fake rejects the API key\./),
  ]);
  reply = says("HEARTBEAT_OK");
  await post(gateway, { text: "hello again", session: "den" }); // a provider that answers is mended
});

test("a heartbeat tells a waiting event in the main session, and nothing else", async () => {
  await checklist("# nothing to do\n");
  await moreLeftOut("empty", 1);
  const before = beats().length;
  const wake = { text: "the parcel has arrived", mode: "next-heartbeat" };
  const headers = { "content-type": "application/json" };
  await gateway.fetch("/api/cron/wake", { method: "POST", headers, body: JSON.stringify(wake) });
  await eventually(
    "another heartbeat run",
    () => beats().length,
    (count) => count > before,
    30_000,
  );
  const beat = beats().at(-1);
  expect(beat && told(beat)).toContain("the parcel has arrived");
  expect(beat?.messages.some(({ content }) => JSON.stringify(content).includes("hello"))).toBe(true);
});

test("a reminder is not held up by a heartbeat that has nothing to do", async () => {
  await checklist("# nothing to do\n");
  await moreLeftOut("empty", 1);
  const job = { id: "kettle", schedule: { kind: "at", expr: "in 1s" }, task: "mind the kettle", delivery: "direct" };
  const headers = { "content-type": "application/json" };
  await gateway.fetch("/api/cron/jobs", { method: "POST", headers, body: JSON.stringify(job) });
  await eventually(
    "the run of the reminder",
    async () => (await gateway.fetch("/api/cron/jobs/kettle/runs")).text(),
    (runs) => runs.includes('"status":"ran"'),
    30_000,
  );
});

test("an empty checklist asks no model at all", async () => {
  await checklist("# Heartbeat\n\n- [ ]\n");
  await moreLeftOut("empty", 1);
  const before = provider.requests.length;
  await moreLeftOut("empty", 3);
  expect(provider.requests.length).toBe(before);
  await rm(join(gateway.home, "workspace", "HEARTBEAT.md"));
});

test("an agent can have heartbeat settings of its own, also when the others have none", async () => {
  const own = { enabled: true, every: "1s", prompt: "Heartbeat: watch the door." };
  const changed = settings({ enabled: false }, [{ id: "watchman", heartbeat: own }]);
  await saveSettings(gateway.home, changed);
  await eventually(
    "two heartbeat runs with the agent's own prompt",
    () => beats().filter((one) => asked(one) === own.prompt).length,
    (count) => count > 1,
    30_000,
  );
});
