/** The record of every tool call: written before the tool runs, completed after it, both linked into the chain. A call without an end stays visible as such. */
import type { RefusedStatus, ToolCallStore, ToolEnd, ToolIntent } from "../../contracts/store/tool-calls.ts";
import type { Chain } from "../audit/chain.ts";
import type { HeadFile } from "../audit/head-file.ts";
import { endContent, intentContent, type Link } from "../audit/links.ts";
import { decodeReply, encodeJson } from "../rows/codec.ts";
import { toColumns } from "../rows/named-columns.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import { createFreshScopes } from "./fresh-scopes.ts";
import { createToolCallLists } from "./lists.ts";
import { createToolCallQueries, type NewCall, REFUSED_SCOPE, type ToolCallQueries } from "./queries.ts";
import { createPruning } from "./pruning.ts";

interface AuditParts {
  readonly chain: Chain;
  readonly headFile: HeadFile | null;
}

export function createToolCalls({ sql, read, write, log }: RowDeps, { chain, headFile }: AuditParts): ToolCallStore {
  const queries = createToolCallQueries(sql);
  const { add, addEnded, end } = recording(queries, chain);
  const prune = createPruning(sql, chain);
  const noteCommitted = (link: Link | null): void => {
    if (link) headFile?.noteCommitted(link);
  };
  const fresh = createFreshScopes();
  const hasAny = (scope: string): boolean =>
    [queries.anyCounting, queries.anyUnknownOf, queries.anyDenied].some((query) => query.first({ scope }) !== null);
  let doubts: boolean | null = null; // whether a previous process left calls with an unknown outcome; this process adds none

  return {
    intend(call) {
      fresh.used(call.scope, call.callId);
      return write(
        () => {
          if (!call.waiting && !call.idempotent) queries.markUnsafe.run({ id: call.turnId });
          return add(call);
        },
        call.idempotent || call.waiting ? "with the next" : "now",
      ).then(noteCommitted);
    },
    begin: (id) =>
      write(() => {
        const call = queries.byId.first({ id });
        if (call?.status !== "pending") return;
        queries.begin.run({ id });
        if (call.idempotent === 0) queries.markUnsafe.run({ id: call.turn_id });
      }),
    refuse: (call, end) => write(() => addEnded(call, end), "with the next").then(noteCommitted),
    async settle(id, made) {
      const link = await write(() => end(id, made), "with the next");
      noteCommitted(link);
      if (!link) log.warn("end of an unknown tool call ignored", { toolCallId: id });
    },
    earlier: (scope, callId) =>
      read(() => {
        if (fresh.isNew(scope, callId, hasAny)) return null;
        doubts ??= queries.anyUnknown.first({}) !== null;
        const found =
          queries.counting.first({ scope, callId }) ??
          (doubts ? queries.unknown.first({ scope, callId }) : null) ??
          queries.denied.first({ scope, callId });
        if (!found) return null;
        const { tool, status } = found;
        const reply = found.reply === null ? null : decodeReply(found.reply);
        const idempotent = found.idempotent === 1;
        return { tool, status, idempotent, reply, paramsHash: found.params_hash, output: found.output ?? "" };
      }),
    timesSince: ({ principal, tool }, since) =>
      read(() => queries.timesSince.all({ principal, tool, since }).map(({ at }) => at)),
    list: createToolCallLists(sql, read),
    prune: (before) => write(() => prune(before)),
  };
}

/** What the previous process left without an end: a call that ran may have done its work, one that waited has not. */
export function createForgotten(sql: RowDeps["sql"], chain: Chain): () => void {
  const queries = createToolCallQueries(sql);
  const { end, adopt } = recording(queries, chain);
  const never = "The gateway stopped before the owner had answered. The tool was not run.";
  return () => {
    adopt();
    for (const { id, status } of queries.open.all({})) {
      end(id, status === "pending" ? { status: "blocked", output: never, ms: 0 } : { status: "unknown", output: null });
    }
  };
}

/** Columns that a call has under the same name. */
const SAME = [
  ...["id", "call_id", "scope", "turn_id", "session_key", "principal", "tool", "origin", "path", "params_hash", "at"],
] as const satisfies readonly (keyof NewCall)[];

type End = Omit<ToolEnd, "output" | "ms"> & { readonly output: string | null; readonly ms?: number };

function recording(queries: ToolCallQueries, chain: Chain) {
  const add = (
    call: ToolIntent,
    status: "running" | "pending" | RefusedStatus = call.waiting ? "pending" : "running",
  ): Link => {
    const row = { ...toRow(call), seq: (queries.lastSeq.first({})?.seq ?? 0) + 1 };
    const link = chain.append("intent", intentContent(row));
    queries.add.run({ ...row, status, intent_no: link.no, intent_hash: link.hash });
    return link;
  };
  /** Null: it has ended already, or there is no such call. */
  const end = (id: string, made: End): Link | null => {
    const open = queries.byId.first({ id });
    return open?.status === "running" || open?.status === "pending" ? close(id, made) : null;
  };
  const close = (id: string, { status, output, reply, ms }: End): Link => {
    const row = {
      id,
      status,
      output,
      ms: ms === undefined ? null : Math.round(ms),
      reply: reply === undefined ? null : encodeJson(reply),
    };
    const link = chain.append("end", endContent(row));
    queries.end.run({ ...row, end_no: link.no, end_hash: link.hash });
    return link;
  };
  return {
    end,
    add,
    addEnded(call: ToolIntent, { status, output }: Parameters<ToolCallStore["refuse"]>[1]): Link | null {
      // never open, not for a moment, and an error in a scope of its own: its call id may belong to a call that did run
      add(status === "error" ? { ...call, scope: `${REFUSED_SCOPE}${call.id}` } : call, status);
      return close(call.id, { status, output, ms: 0 });
    },
    /** Rows from before there was a chain are taken into it as they are. */
    adopt(): void {
      for (const row of queries.unchained.all({})) {
        const intent = chain.append("intent", intentContent(row));
        const ended =
          row.status === "running" || row.status === "pending" ? null : chain.append("end", endContent(row));
        queries.adopt.run({
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

function toRow(call: ToolIntent): Omit<NewCall, "seq" | "status" | "intent_no" | "intent_hash"> {
  return {
    ...toColumns(SAME, call),
    idempotent: call.idempotent ? 1 : 0,
    input: encodeJson(call.input),
    asked: call.asked === undefined ? null : encodeJson(call.asked),
  };
}
