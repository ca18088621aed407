/** Looks for the call that an id stands for already; where one gateway has the database alone, memory saves most of the looks. */
import type { EarlierCall } from "../../contracts/store/tool-calls.ts";
import { decodeReply } from "../rows/codec.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { Steps } from "../steps.ts";
import { createFreshScopes } from "./fresh-scopes.ts";
import type { ToolCallQueries } from "./queries.ts";

interface EarlierCalls {
  find(scope: string, callId: string): Promise<EarlierCall | null>;
  /** Before its row is written, whether that works or not. */
  used(scope: string, callId: string): void;
}

export function createEarlierCalls(
  { sql, read, instanceId: me }: Pick<RowDeps, "sql" | "read" | "instanceId">,
  queries: ToolCallQueries,
): EarlierCalls {
  const { severalGateways } = sql.dialect;
  const fresh = createFreshScopes();
  let doubts: boolean | null = null; // whether a previous process left calls with an unknown outcome; this process adds none
  function* hasAny(scope: string): Steps<boolean> {
    for (const query of [queries.anyCounting, queries.anyUnknownOf, queries.anyDenied])
      if (yield* query.first({ scope })) return true;
    return false;
  }
  return {
    used: fresh.used,
    find: (scope, callId) =>
      read(function* () {
        if (!severalGateways && (yield* fresh.isNew(scope, callId, hasAny))) return null;
        const mayBeUnknown = severalGateways || (doubts ??= (yield* queries.anyUnknown.first({})) !== null);
        const found =
          (yield* queries.counting.first({ scope, callId })) ??
          (mayBeUnknown ? yield* queries.unknown.first({ scope, callId }) : null) ??
          (yield* queries.denied.first({ scope, callId }));
        if (!found) return null;
        const { tool, status } = found;
        const reply = found.reply === null ? null : decodeReply(found.reply);
        const idempotent = found.idempotent === 1;
        const isOpen = status === "running" || status === "pending";
        const elsewhere = isOpen && found.node !== null && found.node !== me;
        return {
          tool,
          status,
          idempotent,
          reply,
          elsewhere,
          paramsHash: found.params_hash,
          output: found.output ?? "",
        };
      }),
  };
}
