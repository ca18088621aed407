/** A line `MEDIA:<path>` in the reply of a real pi is a call of `send_media`: denied, approved, refused, and cut off by a crash. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuditRow } from "../src/contracts/store/tool-calls.ts";
import type { PendingApproval } from "../src/contracts/tools/approval.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { endpoint, eventually, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
const WAITS =
  "Here it is:\n\n_(chart.png waits for the owner's approval and follows when it is given, otherwise not.)_";
let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;

beforeAll(async () => {
  provider = await startFakeProvider(() => says("Here it is:\nMEDIA:chart.png"));
  home = await tempHome();
  const agents = [{ id: "mute", model: "fake/fake-1" }];
  const tools = { agents: { mute: { deny: ["send_media"] } }, approvals: { ask: ["send_media"] } };
  gateway = await startGatewayProcess({ home: home.path, config: { ...endpoint(provider), agents, tools } });
  await mkdir(join(home.path, "workspace"), { recursive: true });
  await writeFile(join(home.path, "workspace", "chart.png"), PNG);
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const pending = async (): Promise<readonly PendingApproval[]> =>
  ((await (await gateway.fetch("/api/approvals")).json()) as { items: PendingApproval[] }).items;
const decide = async (decision: "once" | "deny"): Promise<void> => {
  const [asked] = await pending();
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ decision }) };
  expect((await gateway.fetch(`/api/approvals/${asked?.id}`, init)).status).toBe(200);
};
const calls = async (): Promise<readonly AuditRow[]> =>
  ((await (await gateway.fetch("/api/tool-calls?tool=send_media")).json()) as { items: AuditRow[] }).items;
const said = async (session: string, agent?: string) =>
  (await transcript(gateway, session, agent))
    .filter(({ role }) => role === "assistant")
    .map(({ text, attachments = [] }) => [text, ...attachments.map(({ name }) => name)]);

test("a media line of an agent that may not send files sends none, and leaves a row", async () => {
  await gateway.chat("show me", { session: "denied", agent: "mute" });
  expect(await said("denied", "mute")).toEqual([
    ["Here it is:\n\n_(A file was not sent. Sending files is not allowed here.)_"],
  ]);
  expect(await calls()).toMatchObject([{ tool: "send_media", status: "blocked", input: { path: "chart.png" } }]);
});

test("a media line that needs approval lets the reply go first, and its file follows once it is given", async () => {
  const { body } = await gateway.chat("show me", { session: "allowed" });
  expect(body.content).toBe(WAITS);
  expect(await pending()).toMatchObject([{ tool: "send_media", input: { path: "chart.png" } }]);
  await decide("once");
  const all = await eventually(
    "the file in the chat",
    () => said("allowed"),
    (seen) => seen.length === 2,
  );
  expect(all.toSorted((a, b) => a.length - b.length)).toEqual([[WAITS], ["", "chart.png"]]);
  expect((await calls()).filter(({ status }) => status === "success")).toHaveLength(1);
});

test("a media line whose approval is denied ends with a sentence in the chat, and no file", async () => {
  await gateway.chat("show me", { session: "refused" });
  await decide("deny");
  const all = await eventually(
    "the sentence in the chat",
    () => said("refused"),
    (seen) => seen.length === 2,
  );
  expect(all.flat()).toContain("chart.png was not sent. The owner did not allow it.");
  expect(all.flat()).not.toContain("chart.png");
});

test("a media line that waits when the gateway dies is not sent after the restart, and its reply is not lost", async () => {
  const { body } = await gateway.chat("show me", { session: "crashed" });
  expect(body.content).toBe(WAITS);
  await gateway.kill();
  gateway = await startGatewayProcess({ home: home.path });
  expect(await said("crashed")).toEqual([[WAITS]]);
  expect(await pending()).toEqual([]);
  expect((await calls())[0]).toMatchObject({ status: "blocked", output: expect.stringContaining("was not run") });
});
