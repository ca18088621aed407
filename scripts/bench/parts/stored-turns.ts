/** Fills a home with conversations that are long over, through the store's own doors: what a gateway finds after years. */
import type { AgentId, InboxId, Principal, SessionKey, TurnId } from "../../../src/contracts/ids.ts";
import type { Store } from "../../../src/contracts/store.ts";
import { systemClock } from "../../../src/kit/clock.ts";
import { systemIds } from "../../../src/kit/ids.ts";
import { silentLog } from "../../../src/kit/log.ts";
import { openStore } from "../../../src/store/index.ts";
import { entry } from "../../../src/testing/messages.ts";
import { storeUrlOf } from "../../../src/testing/postgres/home-database.ts";

export interface Stored {
  readonly sessions: number;
  /** Each is a message and its reply. */
  readonly turnsEach: number;
  readonly callsPerTurn: number;
}

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const AT_ONCE = 500;
/** Twenty words of it make a message, so that a search finds some and not all. */
const VOCABULARY = 5_000;
const WORDS = 20;

export async function storeTurns(home: string, { sessions, turnsEach, callsPerTurn }: Stored): Promise<void> {
  await using store = await openStore(DEPS, { home, url: await storeUrlOf(home) });
  for (let turn = 0; turn < turnsEach; turn++)
    for (let from = 0; from < sessions; from += AT_ONCE) {
      await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, sessions - from) }, (_, at) =>
          storeTurn(store, { session: from + at, turn, callsPerTurn }),
        ),
      );
      // The full-text index follows by half a second, which over years is nothing: a search has it catch up.
      await store.sessions.searchMessages({ words: "word0" }, { limit: 1 });
    }
}

async function storeTurn(
  store: Store,
  { session, turn, callsPerTurn }: { readonly session: number; readonly turn: number; readonly callsPerTurn: number },
): Promise<void> {
  const said = entry(`idle-${session}`, `words of session ${session} ${wordsFor(session * 7 + turn)}`);
  const id = systemIds.next("msg") as InboxId;
  const turnId = systemIds.next("turn") as TurnId;
  const sessionKey = said.sessionKey as SessionKey;
  await store.inbox.accept({ ...said, id, message: { ...said.message, eventId: id } });
  await store.turns.begin({
    turnId,
    sessionKey,
    agentId: "default" as AgentId,
    inboxIds: [id],
    at: systemClock.now(),
  });
  for (let call = 0; call < callsPerTurn; call++) await storeCall(store, { turnId, sessionKey, call });
  await store.turns.finish({
    turnId,
    attempt: 1,
    outcome: "done",
    reply: [{ part: 0, message: { kind: "reply", text: `answer ${session} ${wordsFor(session * 11 + turn)}` } }],
    to: said.message.address,
    usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
    model: "local/bench",
    settledBytes: 0,
    at: systemClock.now(),
  });
  await store.outbox.markSent(`${turnId}:0`, systemClock.now());
}

async function storeCall(
  store: Store,
  { turnId, sessionKey, call }: { readonly turnId: TurnId; readonly sessionKey: SessionKey; readonly call: number },
): Promise<void> {
  const id = systemIds.next("call");
  await store.toolCalls.intend({
    id,
    callId: `call-${call}`,
    scope: turnId,
    turnId,
    sessionKey,
    principal: "operator" as Principal,
    tool: `tool_${call % 20}`,
    origin: "chat",
    path: "pipe",
    input: { path: `file-${call}` },
    paramsHash: "0".repeat(64),
    idempotent: true,
    waiting: false,
    at: systemClock.now(),
  });
  await store.toolCalls.settle(id, { status: "success", output: "done", ms: 3 });
}

/** The same words for the same number, spread over the vocabulary. */
function wordsFor(number: number): string {
  return Array.from({ length: WORDS }, (_, at) => `word${((number + 1) * 7_919 + at * 104_729) % VOCABULARY}`).join(
    " ",
  );
}
