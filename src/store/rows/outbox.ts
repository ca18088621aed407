/** Reply parts between the end of their turn and their channel. They are never deleted: the transcript reads them. */
import type { OutboxRow, PendingPart, TroubledPart, TroubledState } from "../../contracts/delivery.ts";
import type { OutboxStore } from "../../contracts/store.ts";
import type { InstanceId, TurnId } from "../../contracts/ids.ts";
import type { Tables } from "../schema.ts";
import type { OutboxTable } from "./outbox-table.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { type ExpressionBuilder, sql as raw } from "kysely";
import type { AuditLog } from "../audit/entries.ts";
import { decodeCursor, NEWEST, pageOf, pageSize } from "./paging.ts";
import { reactionsTo } from "./channels/marks.ts";
import { createPlatformIds } from "./channels/platform-ids.ts";
import { createReactions } from "./channels/reactions.ts";
import { createPartHandOver } from "./part-hand-over.ts";
import { createPartNotices } from "./part-notices.ts";
import { createPartRetry } from "./part-retry.ts";
import { PENDING, retryOf, type RowOfTurn, toPending, toRow } from "./part-rows.ts";
import { createPosts } from "./posts.ts";
import type { RowDeps } from "./row-deps.ts";

type OutboxDeps = Pick<RowDeps, "sql" | "read" | "write" | "mask" | "messageIndex" | "instanceId">;

export function createOutbox(
  { sql, read, write, mask, messageIndex, instanceId: me }: OutboxDeps,
  audit: AuditLog,
): OutboxStore {
  const { pending, part, owed, claimedBy, ends } = reading(sql);
  const { troubled, formerDoubts } = listing(sql);
  const { sending, waiting, sent, settled } = marking(sql);
  const platformIds = createPlatformIds(sql);
  function* partNow(id: string): Steps<OutboxRow | null> {
    const row = yield* part.first({ id });
    return row && toRow(row);
  }
  /** A part that has ended stays as it is, which is no claim of another gateway. */
  function* isRecorded(id: string, changes: number): Steps<boolean> {
    return changes > 0 || [null, me].includes((yield* claimedBy.first({ id }))?.claimed_by ?? null);
  }
  return {
    pending: (limit, after = 0) =>
      read(function* () {
        return (yield* pending.all({ me, limit, after })).map(toPending);
      }),
    part: (id) => read(() => partNow(id)),
    isOwed: (turnId) =>
      read(function* () {
        return (yield* owed.first({ turnId })) !== null;
      }),
    markSending: (id, { at, claimedUntil, ...now }) =>
      write(function* () {
        return (yield* sending.run({ id, me, ...toCounts(now), at, claimedUntil })) > 0;
      }),
    markWaiting: (id, { because, firstTriedAt, nextTryAt, ...now }) =>
      write(function* () {
        const counts = toCounts(now);
        return yield* isRecorded(
          id,
          yield* waiting.run({ id, me, ...counts, because: mask(because), firstTriedAt, nextTryAt }),
        );
      }),
    // of a channel where repeats are safe: lost with the process, the part is sent again under its old id
    markSent: (id, at) =>
      write(function* () {
        return yield* isRecorded(id, yield* sent.run({ id, me, at }));
      }, "soon"),
    settle: (id, { state, because: why, providerId = null, providerIds }, at) =>
      write(function* () {
        const because = why === null ? null : mask(why); // an error of a platform may contain the address of the bot, which is a secret
        if ((yield* settled.run({ id, me, state, because, providerId, at })) === 0) return yield* isRecorded(id, 0);
        const ids = providerIds ?? (providerId === null ? [] : [providerId]);
        const to = (yield* partNow(id))?.to;
        if (to) yield* platformIds.note(id, to, ids);
        return true;
      }),
    list: (state, page) =>
      read(function* () {
        const limit = pageSize(page);
        const after = page.cursor === undefined ? [] : decodeCursor(page.cursor, ["number", "number"]);
        const [endedAt = NEWEST, seq = NEWEST] = after.map(Number);
        const asked = { endedAt, seq, limit: limit + 1 };
        const now = yield* troubled.all({ state, ...asked });
        const before = state === "ambiguous" ? yield* formerDoubts.all(asked) : [];
        const placeOf = (row: RowOfTurn): number => toTroubled(row, state).endedAt;
        const rows = [...now, ...before].toSorted((one, other) => placeOf(other) - placeOf(one) || other.seq - one.seq);
        return pageOf(
          rows.slice(0, limit + 1),
          limit,
          (row) => toTroubled(row, state),
          (last) => [placeOf(last), last.seq],
        );
      }),
    ...createPartHandOver({ sql, write, instanceId: me }),
    ...createPartRetry({ sql, write, instanceId: me }, audit),
    ...createPosts({ sql, write, mask, messageIndex, instanceId: me }, partNow),
    ...createPartNotices({ sql, write, mask, messageIndex, instanceId: me }),
    ...createReactions({ sql, read, write }, partNow),
    endsSince: (state, since, limit) =>
      read(function* () {
        return (yield* ends.all({ state, since, limit })).map(({ ended_at }) => ended_at ?? 0);
      }),
  };
}

function reading(sql: Sql) {
  return {
    pending: sql.prepare((db, p: Params<{ me: InstanceId; limit: number; after: number }>) =>
      db
        .selectFrom("outbox")
        .select(PENDING)
        .where("ended_at", "is", null)
        .where("seq", ">", p("after"))
        .where("node", "=", p("me"))
        .orderBy("seq")
        .limit(p("limit")),
    ),
    part: sql.prepare((db, p: Params<{ id: string }>) =>
      db
        .selectFrom("outbox")
        .innerJoin("turns", "turns.id", "outbox.turn_id")
        .selectAll("outbox")
        .select("turns.state as turn_state")
        .select((eb) => reactionsTo(sql.dialect, eb).as("reaction"))
        .where("outbox.id", "=", p("id")),
    ),
    owed: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("turns")
        .select("id")
        .where("id", "=", p("turnId"))
        .where((eb) =>
          eb.or([
            eb("state", "=", raw.lit("running")),
            eb.exists(
              eb
                .selectFrom("outbox")
                .select("outbox.id")
                .whereRef("outbox.turn_id", "=", "turns.id")
                .where("outbox.ended_at", "is", null),
            ),
          ]),
        ),
    ),
    claimedBy: sql.prepare((db, p: Params<{ id: string }>) =>
      db.selectFrom("outbox").select("claimed_by").where("id", "=", p("id")),
    ),
    ends: sql.prepare((db, p: Params<{ state: TroubledState; since: number; limit: number }>) =>
      db
        .selectFrom("outbox")
        .select("ended_at")
        .where("because", "is not", null)
        .where("state", "=", p("state"))
        .where("ended_at", ">", p("since"))
        .orderBy("ended_at", "desc")
        .limit(p("limit")),
    ),
  };
}

function listing(sql: Sql) {
  type After = { endedAt: number; seq: number; limit: number };
  return {
    troubled: sql.prepare((db, p: Params<After & { state: TroubledState }>) =>
      db
        .selectFrom("outbox")
        .innerJoin("turns", "turns.id", "outbox.turn_id")
        .selectAll("outbox")
        .select("turns.state as turn_state")
        .select((eb) => reactionsTo(sql.dialect, eb).as("reaction"))
        .where("outbox.because", "is not", null)
        .where("outbox.state", "=", p("state"))
        .where(raw<boolean>`(outbox.ended_at, outbox.seq) < (${p("endedAt")}, ${p("seq")})`)
        .orderBy("outbox.ended_at", "desc")
        .orderBy("outbox.seq", "desc")
        .limit(p("limit")),
    ),
    /** In doubt until somebody had them sent again. */
    formerDoubts: sql.prepare((db, p: Params<After>) =>
      db
        .selectFrom("outbox")
        .innerJoin("turns", "turns.id", "outbox.turn_id")
        .selectAll("outbox")
        .select("turns.state as turn_state")
        .select((eb) => reactionsTo(sql.dialect, eb).as("reaction"))
        .where("outbox.retried_from", "=", raw.lit("ambiguous"))
        .where("outbox.state", "<>", raw.lit("ambiguous"))
        .where(raw<boolean>`(outbox.retried_at, outbox.seq) < (${p("endedAt")}, ${p("seq")})`)
        .orderBy("outbox.retried_at", "desc")
        .orderBy("outbox.seq", "desc")
        .limit(p("limit")),
    ),
  };
}

function marking(sql: Sql) {
  /** No other gateway has claimed it since this one did. */
  const isOurs = (p: Params<{ me: InstanceId }>) => (eb: ExpressionBuilder<Tables, "outbox">) =>
    eb.or([eb("claimed_by", "is", null), eb("claimed_by", "=", p("me"))]);
  type Counts = { id: string; me: InstanceId } & ReturnType<typeof toCounts>;
  type Waiting = Counts & { because: string; firstTriedAt: number | null; nextTryAt: number | null };
  type Settled = {
    id: string;
    me: InstanceId;
    state: OutboxTable["state"];
    because: string | null;
    providerId: string | null;
  };
  return {
    sending: sql.prepare((db, p: Params<Counts & { at: number; claimedUntil: number }>) =>
      db
        .updateTable("outbox")
        .set((eb) => ({
          state: "sending",
          ...p.row("attempts", "lost", "delivered", "doubt"),
          first_tried_at: eb.fn.coalesce("first_tried_at", eb.val(p("at"))),
          claimed_by: p("me"),
          claimed_until: p("claimedUntil"),
        }))
        .where("id", "=", p("id"))
        .where("ended_at", "is", null)
        .where((eb) => eb.or([isOurs(p)(eb), eb("claimed_until", "is", null), eb("claimed_until", "<=", p("at"))])),
    ),
    waiting: sql.prepare((db, p: Params<Waiting>) =>
      db
        .updateTable("outbox")
        .set({
          state: "pending",
          ...p.row("attempts", "lost", "delivered", "doubt", "because"),
          first_tried_at: p("firstTriedAt"),
          next_try_at: p("nextTryAt"),
          claimed_until: null,
        })
        .where("id", "=", p("id"))
        .where("ended_at", "is", null)
        .where(isOurs(p)),
    ),
    sent: sql.prepare((db, p: Params<{ id: string; me: InstanceId; at: number }>) =>
      db
        .updateTable("outbox")
        .set((eb) => ({ state: "sent", because: null, attempts: eb("attempts", "+", 1), ended_at: p("at") }))
        .where("id", "=", p("id"))
        .where("ended_at", "is", null)
        .where(isOurs(p)),
    ),
    settled: sql.prepare((db, p: Params<Settled & { at: number }>) =>
      db
        .updateTable("outbox")
        .set({ ...p.row("state", "because"), provider_id: p("providerId"), ended_at: p("at") })
        .where("id", "=", p("id"))
        .where("ended_at", "is", null)
        .where(isOurs(p)),
    ),
  };
}

function toCounts({
  attempts,
  lost,
  delivered,
  doubt,
}: Pick<PendingPart, "attempts" | "lost" | "delivered" | "doubt">) {
  return { attempts, lost, delivered, doubt: doubt ? 1 : 0 } as const;
}

function toTroubled(row: RowOfTurn, state: TroubledState): TroubledPart {
  const { retried } = retryOf(row);
  return {
    ...toRow(row),
    state,
    because: row.because ?? "",
    attempts: row.attempts,
    firstTriedAt: row.first_tried_at,
    endedAt: (row.state === state ? row.ended_at : row.retried_at) ?? 0,
    providerId: row.provider_id,
    ...(retried && { retried: { ...retried, now: row.state } }),
  };
}
