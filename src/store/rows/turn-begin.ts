/** The beginning of a turn: its row, and the messages that become its own. Runs inside of a write. */
import { type Selectable, sql as raw } from "kysely";
import { GatewayError } from "../../contracts/errors.ts";
import type { AgentId, InboxId, InstanceId, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { BegunTurn, UpcomingTurn } from "../../contracts/store/turns.ts";
import type { SessionTable, TurnTable } from "../schema.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { createSessionNews } from "./session-news.ts";

/** What a turn needs to know about its session. */
export const SESSION_OF_TURN = [
  "file",
  "settled_bytes",
  "model",
  "thinking",
] as const satisfies readonly (keyof SessionTable)[];
export type SessionOfTurn = Pick<SessionTable, (typeof SESSION_OF_TURN)[number]>;

interface FirstAttempt {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly inboxIds: readonly InboxId[];
  readonly at: number;
}

export type TurnBegin = ReturnType<typeof createTurnBegin>;

export function createTurnBegin(sql: Sql, me: InstanceId) {
  const { running, add, claim } = statements(sql);
  return {
    add,
    claim,
    hasNews: createSessionNews(sql),
    /** Whether a turn runs in this session. */
    *isRunning(key: SessionKey): Steps<boolean> {
      return (yield* running.first({ key })) !== null;
    },
    *first({ turnId, sessionKey: key, agentId, inboxIds, at }: FirstAttempt, session: SessionOfTurn): Steps<void> {
      const { file, settled_bytes: began_bytes } = session;
      const row = { id: turnId, session_key: key, agent_id: agentId, file, began_bytes, begun_at: at };
      yield* add.run({ ...row, state: "running", at_work: 1, node: me });
      for (const inboxId of inboxIds) {
        if ((yield* claim.run({ inboxId, turnId, key })) > 0) continue;
        throw new GatewayError("conflict", "a message of this turn is not free", { fields: { turnId, inboxId } });
      }
    },
  };
}

/** What its taker is told. */
export function begunTurn(
  { attempt, unsafe }: Pick<TurnTable, "attempt" | "unsafe">,
  session: SessionOfTurn,
  hasNews: boolean,
): BegunTurn {
  return { attempt, unsafeToRetry: unsafe === 1, hasNews, ...upcomingTurn(session) };
}

export function upcomingTurn(session: SessionOfTurn): UpcomingTurn {
  return {
    sessionFile: { name: session.file, settledBytes: session.settled_bytes },
    settings: { model: session.model, thinking: session.thinking },
  };
}

export const FIRST_ATTEMPT = { attempt: 1, unsafe: 0 } as const;

function statements(sql: Sql) {
  type NewTurn = Pick<
    Selectable<TurnTable>,
    "id" | "session_key" | "agent_id" | "file" | "begun_at" | "state" | "at_work" | "node" | "began_bytes"
  >;
  return {
    running: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db.selectFrom("turns").select("id").where("session_key", "=", p("key")).where("state", "=", raw.lit("running")),
    ),
    add: sql.prepare((db, p: Params<NewTurn>) =>
      db.insertInto("turns").values({
        ...p.row("id", "session_key", "agent_id", "file", "begun_at", "state", "at_work", "node", "began_bytes"),
        attempt: 1,
        unsafe: 0,
        input_tokens: 0,
        output_tokens: 0,
        cost_usd: 0,
      }),
    ),
    claim: sql.prepare((db, p: Params<{ inboxId: InboxId; turnId: TurnId; key: SessionKey }>) =>
      db
        .updateTable("inbox")
        .set({ turn_id: p("turnId") })
        .where("id", "=", p("inboxId"))
        .where("session_key", "=", p("key"))
        .where("turn_id", "is", null),
    ),
  };
}
