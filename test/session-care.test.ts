/** Finding, exporting and deleting a conversation over HTTP: a real gateway, a real database, real pi. After a deletion the database and the folders are looked into. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { storedRows, tableNames } from "../src/testing/stored-rows.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

const KEY = "agent:default:api:dm:plans";
const WORD = "quixotic";

let gateway: GatewayProcess;

beforeAll(async () => {
  const transcripts = { enabled: true };
  gateway = await startGatewayProcess({ config: { agent: { pool: { min: 0, max: 1 } }, logging: { transcripts } } });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
});

const json = async (path: string, init: Parameters<GatewayProcess["fetch"]>[1] = {}) => {
  const answer = await gateway.fetch(path, init);
  return (await answer.json()) as Record<string, unknown>;
};
const post = (path: string, body: object) =>
  json(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const filesBelow = async (folder: string) =>
  (await readdir(join(gateway.home, folder), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

/** Every table with a cell that has the text, but for those that are meant to keep it. */
async function tablesWith(text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await tableNames(gateway.home)) {
    const rows = await storedRows(gateway.home, `select * from "${name}"`);
    if (JSON.stringify(rows).includes(text)) found.push(name);
  }
  return found;
}

test("a deleted conversation is gone from the database, the session files, the media and the transcripts; its tool calls stay", async () => {
  const bytes = await Bun.file(join(import.meta.dir, "../docs/images/console-phone.png")).bytes();
  const upload = await json("/api/media", {
    method: "POST",
    headers: { "content-type": "image/png", "x-filename": "p.png" },
    body: bytes,
  });
  const attachments = [{ mediaId: upload["mediaId"] }];
  await post("/api/chat", { session: "plans", text: `echo: ${WORD} plans`, attachments });
  await post("/api/chat", { session: "plans", text: "status" });
  await post("/api/chat", { session: "other", text: `echo: ${WORD} too` });
  const found = async () => (await json(`/api/search?q=${WORD}`))["items"] as readonly { sessionKey: string }[];
  expect(new Set((await found()).map(({ sessionKey }) => sessionKey))).toEqual(
    new Set([KEY, "agent:default:api:dm:other"]),
  );
  const exported = await json(`/api/sessions/${encodeURIComponent(KEY)}/export?format=markdown`);
  expect(String(exported["text"])).toContain(`> echo: ${WORD} plans`);
  const before = { sessions: (await filesBelow("sessions")).length, media: (await filesBelow("media")).length };
  await eventually(
    "the transcripts are written",
    () => filesBelow("logs/transcripts"),
    (files) => files.length === 2,
  );

  const story = gateway.fetch("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ session: "plans", text: "tell me a long story" }),
  });
  await eventually(
    "the story is being told",
    async () => (await json(`/api/sessions/${encodeURIComponent(KEY)}`))["live"] as unknown,
    (live) => live !== null,
  );
  const answer = await json(`/api/sessions/${encodeURIComponent(KEY)}`, { method: "DELETE" });
  await story;
  expect(answer).toMatchObject({ deleted: { media: 1 } });
  expect((await gateway.fetch(`/api/sessions/${encodeURIComponent(KEY)}`)).status).toBe(404);
  expect((await found()).map(({ sessionKey }) => sessionKey)).not.toContain(KEY);
  expect(await tablesWith(`${WORD} plans`)).toEqual([]);
  await eventually(
    "only what is to be kept names the conversation",
    async () => (await tablesWith(KEY)).toSorted().join(", "), // on Postgres its home is given back a moment later
    (tables) => tables === "audit_entries, tool_calls",
  );
  expect((await filesBelow("sessions")).length).toBe(before.sessions - 1);
  expect((await filesBelow("media")).length).toBe(before.media - 1);
  expect(await filesBelow("logs/transcripts")).toHaveLength(1);
  const again = await post("/api/chat", { session: "plans", text: "echo: a new beginning" });
  expect(String(again["content"])).toBe("a new beginning");
});

test("a key for another agent finds nothing of this one, and deletes nothing", async () => {
  await post("/api/chat", { session: "private", text: `echo: ${WORD} secrets` });
  const made = await post("/api/keys", { name: "other", scopes: ["read", "chat"], agents: ["other"] });
  const asKey = (path: string, method = "GET") =>
    fetch(`${gateway.url}${path}`, { method, headers: { authorization: `Bearer ${String(made["secret"])}` } });
  expect(await (await asKey(`/api/search?q=${WORD}`)).json()).toEqual({ items: [] });
  const path = `/api/sessions/${encodeURIComponent("agent:default:api:dm:private")}`;
  expect((await asKey(path, "DELETE")).status).toBe(403);
  expect((await asKey(`${path}/export`)).status).toBe(403);
  expect((await gateway.fetch(path)).status).toBe(200);
});
