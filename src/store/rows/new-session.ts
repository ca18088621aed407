/** A session as it begins: without costs, and with a session file of its own. Runs inside of a write. */
import type { AgentId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { Ids } from "../../kit/ids.ts";
import type { SessionTable } from "../schema.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { searchTextOf } from "./one-line.ts";

interface NewSession {
  readonly key: SessionKey;
  readonly channel: string;
  readonly agentId: AgentId;
  readonly title: string;
  readonly person: Principal | null;
  readonly messages: number;
  readonly at: number;
}

const COLUMNS = ["key", "channel", "agent_id", "title", "search_text", "messages", "file", "person"] as const;

/** Returns the name of its session file. */
export function createNewSessions(sql: Sql, ids: Ids): (session: NewSession) => Steps<string> {
  const add = sql.prepare((db, p: Params<Pick<SessionTable, (typeof COLUMNS)[number]> & { at: number }>) =>
    db.insertInto("sessions").values({
      ...p.row(...COLUMNS),
      created_at: p("at"),
      last_activity_at: p("at"),
      input_tokens: 0,
      output_tokens: 0,
      cost_usd: 0,
      settled_bytes: 0,
    }),
  );
  return function* ({ key, channel, agentId, title, person, messages, at }) {
    const file = newSessionFile(ids);
    const search_text = searchTextOf(title, key);
    yield* add.run({ key, channel, agent_id: agentId, title, search_text, messages, file, person, at });
    return file;
  };
}

/** A name of ours below the sessions folder, never made from anything a person said. */
export function newSessionFile(ids: Ids): string {
  return `${ids.next("session").replaceAll("_", "-").toLowerCase()}.jsonl`;
}
