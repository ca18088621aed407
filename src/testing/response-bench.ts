/** The door of responses on a scripted agent and a real store, for tests of what it keeps, continues and cancels. */
import { GatewayError } from "../contracts/errors.ts";
import type { AgentId, Principal, SessionKey } from "../contracts/ids.ts";
import { OPERATOR } from "../contracts/ids.ts";
import type { AskedResponse, ResponsesDoor } from "../contracts/responses.ts";
import { systemIds } from "../kit/ids.ts";
import { NO_MASK } from "../kit/secret.ts";
import { createAnswers, createResponsesDoor } from "../openai/index.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { createFakePool, type FakeAgent, type FakePool, NO_USAGE } from "./fake-pool.ts";
import { freeBudget } from "./free-budget.ts";
import { realStore } from "./real-store.ts";
import { recordingLog } from "./recording-log.ts";

export interface ResponseBench extends AsyncDisposable {
  readonly door: ResponsesDoor;
  readonly clock: FakeClock;
  readonly pool: FakePool;
  /** A second gateway on the same store, as after a crash. */
  anew(): ResponsesDoor;
  /** Ends every key. */
  revoke(): void;
  asked(body: object, more?: Partial<AskedResponse>): AskedResponse;
}

export const OTHER = "key:user:other" as Principal;

export async function responseBench(agent: FakeAgent): Promise<ResponseBench> {
  const clock = createFakeClock();
  const kept = await realStore(clock);
  const pool = createFakePool(agent);
  const revoked = new AbortController();
  const address = { clock, resolve: async () => [] };
  const images = { ...address, maxImageBytes: () => 1_000 };
  const answers = createAnswers({
    clock,
    ids: systemIds,
    pool,
    budget: freeBudget(),
    delegations: {
      open: () => ({ settle: async () => ({ usage: NO_USAGE, spans: [] }), [Symbol.dispose]: () => undefined }),
    },
    mask: NO_MASK,
    timeoutMs: () => 60_000,
    images,
    route: (_principal, agentId = "default") => ({
      kind: "accept",
      sessionKey: "unused" as SessionKey,
      agentId: agentId as AgentId,
      role: "owner",
      priority: 10,
      because: [],
    }),
    sessionKey: (agentId, turnId) => `agent:${agentId}:request:${turnId}` as SessionKey,
  });
  const open = (): ResponsesDoor =>
    createResponsesDoor({
      clock,
      ids: systemIds,
      log: recordingLog(),
      answers,
      nodes: { ask: () => Promise.reject(new Error("there is no other gateway")) },
      idempotentAnswers: kept.store.idempotentAnswers,
      store: kept.store.responses,
      keys: { ending: () => revoked.signal },
      images,
      files: {
        ...address,
        maxFileBytes: () => 1_000,
        place: async ({ name }) => ({ path: `attachments/${name}`, mimeType: "application/pdf" }),
      },
      options: { isAgent: (id) => id === "default", isTaken: (name) => name === "cron", digest: (text) => text },
    });
  const door = open();
  return {
    door,
    clock,
    pool,
    anew: open,
    revoke: () => revoked.abort(new GatewayError("unauthorized", "the key is revoked")),
    asked: (body, more = {}) => ({
      request: door.read({ model: "pi-gateway", ...body }, null),
      principal: OPERATOR,
      key: null,
      idempotencyKey: null,
      digest: JSON.stringify(body),
      inSession: () => Promise.reject(new Error("no session was named")),
      shows: "events",
      recalled: null,
      ...more,
    }),
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      await pool[Symbol.asyncDispose]();
      await kept[Symbol.asyncDispose]();
    },
  };
}
