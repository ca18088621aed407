/** The record of every tool call: written before the tool runs, completed after it, both linked into the chain. A call without an end stays visible as such. */
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId } from "../../contracts/ids.ts";
import type { RefusedStatus, ToolCallStore, ToolEnd, ToolIntent } from "../../contracts/store/tool-calls.ts";
import type { Chain } from "../audit/chain.ts";
import type { HeadFile } from "../audit/head-file.ts";
import { endContent, intentContent, type Link } from "../audit/links.ts";
import { encodeJson } from "../rows/codec.ts";
import { toColumns } from "../rows/named-columns.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import { createEarlierCalls } from "./earlier-calls.ts";
import { createToolCallLists } from "./lists.ts";
import { createToolCallQueries, type NewCall, REFUSED_SCOPE, type ToolCallQueries } from "./queries.ts";
import { createPruning } from "./pruning.ts";
import type { Steps } from "../steps.ts";

interface AuditParts {
  readonly chain: Chain;
  readonly headFile: HeadFile | null;
}

export function createToolCalls(
  { sql, read, write, log, instanceId: me, isHeld }: RowDeps,
  { chain, headFile }: AuditParts,
): ToolCallStore {
  const queries = createToolCallQueries(sql);
  const { add, addEnded, end } = recording(queries, chain, me);
  const prune = createPruning(sql, chain);
  const noteCommitted = (link: Link | null): void => {
    if (link) headFile?.noteCommitted(link);
  };
  const checkHeld = createHeldCheck(isHeld);
  const earlierCalls = createEarlierCalls({ sql, read, instanceId: me }, queries);

  return {
    intend(call) {
      earlierCalls.used(call.scope, call.callId);
      return write(
        function* () {
          const { scope, callId } = call;
          if (yield* queries.counting.first({ scope, callId })) return null;
          if (!call.waiting && !call.idempotent) yield* queries.markUnsafe.run({ id: call.turnId });
          return yield* add(call);
        },
        call.idempotent || call.waiting ? "with the next" : "now",
      ).then((link) => {
        noteCommitted(link);
        checkHeld();
        return link !== null;
      });
    },
    begin: (id) =>
      write(function* () {
        const call = yield* queries.byId.first({ id });
        if (call?.status !== "pending") return;
        yield* queries.begin.run({ id });
        if (call.idempotent === 0) yield* queries.markUnsafe.run({ id: call.turn_id });
      }).then(checkHeld),
    refuse: (call, end) => write(() => addEnded(call, end), "with the next").then(noteCommitted),
    async settle(id, made) {
      const link = await write(() => end(id, made), "with the next");
      noteCommitted(link);
      if (!link) log.warn("end of an unknown tool call ignored", { toolCallId: id });
    },
    earlier: earlierCalls.find,
    timesSince: ({ principal, tool }, since) =>
      read(function* () {
        return (yield* queries.timesSince.all({ principal, tool, since })).map(({ at }) => at);
      }),
    list: createToolCallLists(sql, read),
    prune: (before) => write(() => prune(before)),
  };
}

/** Asked last before a tool runs: a process that froze after the write may have been taken over from, and the call answered as unknown. */
function createHeldCheck(isHeld: () => boolean): () => void {
  return () => {
    if (!isHeld()) throw new GatewayError("store_failed", "this gateway was not heard of for too long");
  };
}

/** Ends what gateways left that are gone: a call that ran may have done its work, one that waited has not. How many there were. */
export function createForgotten(
  { sql, instanceId: me }: Pick<RowDeps, "sql" | "instanceId">,
  chain: Chain,
): { readonly adopt: () => Steps<void>; readonly end: (except: InstanceId | null) => Steps<number> } {
  const queries = createToolCallQueries(sql);
  const { end, adopt } = recording(queries, chain, me);
  const never = "The gateway stopped before the owner had answered. The tool was not run.";
  return {
    adopt,
    *end(except) {
      const left = yield* queries.left.all({ except });
      for (const { id, status } of left) {
        const made = { status: "blocked", output: never, ms: 0 } as const;
        yield* end(id, status === "pending" ? made : { status: "unknown", output: null });
      }
      return left.length;
    },
  };
}

/** Columns that a call has under the same name. */
const SAME = [
  ...["id", "call_id", "scope", "turn_id", "session_key", "principal", "tool", "origin", "path", "params_hash", "at"],
] as const satisfies readonly (keyof NewCall)[];

type End = Omit<ToolEnd, "output" | "ms"> & { readonly output: string | null; readonly ms?: number };

function recording(queries: ToolCallQueries, chain: Chain, me: InstanceId) {
  function* add(
    call: ToolIntent,
    status: "running" | "pending" | RefusedStatus = call.waiting ? "pending" : "running",
  ): Steps<Link> {
    const row = { ...toRow(call), seq: ((yield* queries.lastSeq.first({}))?.seq ?? 0) + 1 };
    const link = yield* chain.append("intent", intentContent(row));
    yield* queries.add.run({ ...row, status, intent_no: link.no, intent_hash: link.hash, node: me });
    return link;
  }
  /** Null: it has ended already, or there is no such call. */
  function* end(id: string, made: End): Steps<Link | null> {
    const open = yield* queries.byId.first({ id });
    return open?.status === "running" || open?.status === "pending" ? yield* close(id, made) : null;
  }
  function* close(id: string, { status, output, reply, ms }: End): Steps<Link> {
    const row = {
      id,
      status,
      output,
      ms: ms === undefined ? null : Math.round(ms),
      reply: reply === undefined ? null : encodeJson(reply),
    };
    const link = yield* chain.append("end", endContent(row));
    yield* queries.end.run({ ...row, end_no: link.no, end_hash: link.hash });
    return link;
  }
  return {
    end,
    add,
    *addEnded(call: ToolIntent, { status, output }: Parameters<ToolCallStore["refuse"]>[1]): Steps<Link | null> {
      // never open, not for a moment, and an error in a scope of its own: its call id may belong to a call that did run
      yield* add(status === "error" ? { ...call, scope: `${REFUSED_SCOPE}${call.id}` } : call, status);
      return yield* close(call.id, { status, output, ms: 0 });
    },
    /** Rows from before there was a chain are taken into it as they are. */
    *adopt(): Steps<void> {
      for (const row of yield* queries.unchained.all({})) {
        const intent = yield* chain.append("intent", intentContent(row));
        const ended =
          row.status === "running" || row.status === "pending" ? null : yield* chain.append("end", endContent(row));
        yield* queries.adopt.run({
          id: row.id,
          intent_no: intent.no,
          intent_hash: intent.hash,
          end_no: ended?.no ?? null,
          end_hash: ended?.hash ?? null,
        });
      }
    },
  };
}

function toRow(call: ToolIntent): Omit<NewCall, "seq" | "status" | "intent_no" | "intent_hash" | "node"> {
  return {
    ...toColumns(SAME, call),
    idempotent: call.idempotent ? 1 : 0,
    input: encodeJson(call.input),
    asked: call.asked === undefined ? null : encodeJson(call.asked),
  };
}
