/** The kinds of retention over a real database: what keeps coming does not make it grow for ever, and the audit log stays whole. */
import { expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { MediaId, SessionKey, TurnId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { OldRows } from "../contracts/store/retention.ts";
import { createEvents } from "../observe/index.ts";
import { verifyStoredAudit } from "../testing/stored-audit.ts";
import { end, intent, OPERATOR, row, sessionKey, turn } from "../testing/contracts/store/store-world.ts";
import { question } from "../testing/contracts/store/approval-contract.ts";
import { spent } from "../testing/contracts/store/usage-contract.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { retentionKinds } from "./kinds.ts";
import { storageReport } from "./report.ts";

const DAY_MS = 24 * 60 * 60_000;
const TURNS_A_DAY = 20;
const DAYS = 30;
const KEEP_DAYS = 5;
const TEXT = "words and more words ".repeat(100);
const SETTINGS = {
  messagesDays: KEEP_DAYS,
  sessionsDays: KEEP_DAYS,
  mediaDays: KEEP_DAYS,
  usageDays: KEEP_DAYS,
  toolCallsDays: KEEP_DAYS,
};

/** A conversation with a file, a tool call and a delivered reply. */
async function talk(store: Store, id: string, at: number): Promise<void> {
  const mediaId = `media-${id}` as MediaId;
  const data = new Uint8Array(100);
  const file = await store.media.put({ mediaId, owner: OPERATOR, name: "a.txt", mimeType: "text/plain", data, at });
  await store.inbox.accept(row(`in-${id}`, id, { text: TEXT, receivedAt: at, attachments: [file] }));
  await store.turns.begin(turn(id, id, [`in-${id}`], at));
  await store.toolCalls.intend({ ...intent(`call-${id}`, id, true), sessionKey: sessionKey(id), at });
  await store.toolCalls.settle(`call-${id}`, { status: "success", output: TEXT, ms: 1 });
  const reply = [{ part: 0, message: { text: TEXT, kind: "reply" as const } }];
  const day = new Date(at).toISOString().slice(0, 10);
  await store.turns.finish(end(id, { reply, at, spent: spent(id, { day }) }));
  await store.outbox.markSent(`${id}:0`, at);
  await store.outbox.react(`${id}:0`, { by: { principal: OPERATOR, name: "Ada" }, how: "add", emoji: ["👍"] }, at);
  await store.approvals.put(question(`ask-${id}`, { sessionKey: sessionKey(id), turnId: id as TurnId, askedAt: at }));
  await store.approvals.end(`ask-${id}`, { decision: "session", by: OPERATOR, at });
  await store.sessionTools.save(sessionKey(id), { on: [{ tool: "echo", position: 0, at }], off: [] });
}

function world(store: Store, clock: ReturnType<typeof createFakeClock>, settings = SETTINGS) {
  const events = createEvents({ log: recordingLog() });
  const deleted: SessionKey[] = [];
  events.on("session.deleted", (event) => void deleted.push(event.sessionKey));
  const kinds = retentionKinds({ clock, events, store }, () => settings);
  const dropAll = async () => {
    for (const { keepDays, drop } of kinds) {
      const before = clock.now() - keepDays() * DAY_MS;
      for (let from: OldRows["from"] = null, more = true; more; more = from !== null)
        from = (await drop({ before, from, limit: 100 })).next;
    }
  };
  return { deleted, dropAll, kinds };
}

test("a database under constant writes stops growing, and what is left of the audit log verifies", async () => {
  const clock = createFakeClock();
  await using real = await realStore(clock);
  const { store } = real;
  const { dropAll, deleted } = world(store, clock);
  const bytesAfter: number[] = [];
  for (let day = 0; day < DAYS; day++) {
    await Promise.all(Array.from({ length: TURNS_A_DAY }, (_, n) => talk(store, `t${day}-${n}`, clock.now())));
    await dropAll();
    bytesAfter.push((await store.retention.sizes(AbortSignal.timeout(10_000))).bytes);
    await clock.advance(DAY_MS);
  }
  const [settled = 0, last = 0] = [bytesAfter[2 * KEEP_DAYS], bytesAfter.at(-1)];
  expect(last).toBeLessThan(settled * 1.1);
  expect(deleted.length).toBe((DAYS - KEEP_DAYS - 1) * TURNS_A_DAY);
  const report = await storageReport(
    { retention: store.retention, settings: () => SETTINGS },
    AbortSignal.timeout(10_000),
  );
  const rows = (kind: string) => report.kinds.find((one) => one.kind === kind)?.rows;
  const kept = (KEEP_DAYS + 1) * TURNS_A_DAY;
  const { tables } = await store.retention.sizes(AbortSignal.timeout(10_000));
  const rowsIn = (table: string) => tables.find((one) => one.table === table)?.rows;
  for (const table of ["reactions", "approvals", "approval_grants", "session_tools", "message_index"])
    expect([table, (rowsIn(table) ?? 0) <= 2 * kept]).toEqual([table, true]);
  for (const kind of ["messages", "replies", "turns", "sessions", "media", "tool calls"]) expect(rows(kind)).toBe(kept);
  expect(rows("usage")).toBe(DAYS * TURNS_A_DAY); // budgets need two months
  expect(await verifyStoredAudit(real.home)).toMatchObject({ kind: "intact" });
  expect((await stat(join(real.home, "gateway.db"))).size).toBeLessThan(last * 1.1);
}, 30_000);

test("a day whose setting is 0 keeps everything of its kind, and usage is never kept for less than two months", async () => {
  const clock = createFakeClock();
  await using real = await realStore(clock);
  const { kinds } = world(real.store, clock, { ...SETTINGS, messagesDays: 0, usageDays: 1 });
  const days = Object.fromEntries(kinds.map(({ name, keepDays }) => [name, keepDays()]));
  expect(days).toEqual({ messages: 0, sessions: 5, conversations: 5, media: 5, usage: 62, "tool calls": 5 });
});
