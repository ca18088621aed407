/**
 * A state directory as the first version of the gateway left it: its tables, its folders, one conversation and one file in the workspace.
 * Written by hand after a real one, because no built copy of that version is kept.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { APPLICATION_ID } from "../../store/migrate.ts";
import { firstMessage } from "../../store/migrations/early/001-first-message.ts";

const AT = Date.UTC(2026, 0, 15, 12);
const SESSION_FILE = "session-01a1e48340317257b59c9802aee3fb1a.jsonl";
const HEADER_BYTES = 1_024;
const TURN = "turn_01a1e483403275678728e5662f1a37ca";

interface Conversation {
  /** As programs name it over `/api/chat`. */
  readonly session: string;
  readonly said: string;
  readonly answered: string;
}

export function makeFirstVersionHome(
  home: string,
  conversation: Conversation,
  files: Readonly<Record<string, string>>,
): void {
  for (const folder of ["sessions", "workspace", "agent/home", "run/agents", "logs", "cache/bun"])
    mkdirSync(join(home, folder), { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, "workspace", name), text);
  const settings = { defaultProvider: "gwdemo", defaultModel: "demo" };
  writeFileSync(join(home, "agent", "settings.json"), JSON.stringify(settings));
  writeFileSync(join(home, "agent", "models.json"), '{"providers": {}}');
  writeFileSync(join(home, "agent", "bunfig.toml"), "");
  writeFileSync(join(home, "agent", "system-prompt.md"), "You are a helpful personal assistant.");
  writeFileSync(join(home, "media.key"), "q".repeat(43), { mode: 0o600 });
  writeFileSync(join(home, "token"), "t".repeat(43), { mode: 0o600 });
  const history = sessionText(join(home, "workspace"), conversation);
  writeFileSync(join(home, "sessions", SESSION_FILE), history, { mode: 0o600 });
  fillDatabase(join(home, "gateway.db"), conversation, Buffer.byteLength(history));
}

/** pi's file: a header, then one entry a line, each with the id of the one before. */
function sessionText(cwd: string, { said, answered }: Conversation): string {
  const timestamp = new Date(AT).toISOString();
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 5, output: 6, cacheRead: 0, cacheWrite: 0, totalTokens: 11, cost };
  const by = { api: "gw-demo-api", provider: "gwdemo", model: "demo", stopReason: "stop", timestamp: AT, usage };
  const text = (words: string) => [{ type: "text", text: words }];
  const entries = [
    { type: "session", version: 3, id: "ses_01a1e48344cc7338bb4ce63712d95b90", timestamp, cwd },
    { type: "model_change", id: "c0333387", parentId: null, timestamp, provider: "gwdemo", modelId: "demo" },
    { type: "thinking_level_change", id: "e4af3bc1", parentId: "c0333387", timestamp, thinkingLevel: "off" },
    {
      type: "message",
      id: "6a237665",
      parentId: "e4af3bc1",
      timestamp,
      message: { role: "user", content: text(said), timestamp: AT },
    },
    {
      type: "message",
      id: "84a84ae7",
      parentId: "6a237665",
      timestamp,
      message: { role: "assistant", content: text(answered), ...by },
    },
  ];
  // the first line has room, so that the folder in it can be corrected in place
  return entries.map((entry, at) => `${JSON.stringify(entry).padEnd(at === 0 ? HEADER_BYTES - 1 : 0)}\n`).join("");
}

function fillDatabase(file: string, { session, said, answered }: Conversation, settledBytes: number): void {
  const key = `agent:default:api:dm:${session}`;
  using db = new Database(file, { create: true });
  db.exec(firstMessage.sql);
  db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = 1; pragma journal_mode = wal`);
  db.prepare(
    `insert into sessions (key, channel, agent_id, title, search_text, created_at, last_activity_at, messages, file, settled_bytes)
      values (?, 'api', 'default', ?, ?, ?, ?, 2, ?, ?)`,
  ).run(key, said, said, AT, AT, SESSION_FILE, settledBytes);
  db.prepare(
    `insert into turns (id, session_key, agent_id, attempt, state, file, model, begun_at, ended_at)
      values (?, ?, 'default', 1, 'done', ?, 'gwdemo/demo', ?, ?)`,
  ).run(TURN, key, SESSION_FILE, AT, AT);
  db.prepare(
    `insert into inbox (id, session_key, agent_id, role, priority, channel, account, chat, event_id, fingerprint, scope, sender,
      sender_name, text, attachments, mentioned, received_at, turn_id, done)
      values ('msg_1', ?, 'default', 'owner', 10, 'api', 'default', ?, 'event_1', 'f', 'dm', 'operator', 'You', ?, '[]', 1, ?, ?, 1)`,
  ).run(key, session, said, AT, TURN);
  db.prepare(
    `insert into outbox (id, turn_id, session_key, part, channel, account, chat, text, kind, state, created_at, ended_at)
      values (?, ?, ?, 0, 'api', 'default', ?, ?, 'reply', 'sent', ?, ?)`,
  ).run(`${TURN}:0`, TURN, key, session, answered, AT, AT);
  db.exec("update meta set value = 1 where key in ('epoch', 'clean')");
}
