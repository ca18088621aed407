/** The record of every tool call: written before the tool runs, completed after it. A call without an end stays visible as such. */
import type { ToolCallStore } from "../../contracts/store.ts";
import type { ToolCallTable, TurnTable } from "../schema.ts";
import type { Params } from "../sql.ts";
import { encodeJson } from "./codec.ts";
import type { RowDeps } from "./row-deps.ts";

export function createToolCalls({ sql, write, log }: RowDeps): ToolCallStore {
  const add = sql.prepare((db, p: Params<Omit<ToolCallTable, "seq" | "status" | "output" | "ms">>) =>
    db.insertInto("tool_calls").values({
      ...p.row("id", "call_id", "turn_id", "session_key", "principal", "tool", "origin", "input", "idempotent", "at"),
      ...{ status: "running" },
    }),
  );
  const markUnsafe = sql.prepare((db, p: Params<Pick<TurnTable, "id">>) =>
    db.updateTable("turns").set({ unsafe: 1 }).where("id", "=", p("id")).where("unsafe", "=", 0),
  );
  const end = sql.prepare((db, p: Params<Pick<ToolCallTable, "id" | "status" | "output" | "ms">>) =>
    db
      .updateTable("tool_calls")
      .set(p.row("status", "output", "ms"))
      .where("id", "=", p("id")),
  );

  return {
    intend: (call) =>
      write(
        () => {
          add.run({
            id: call.id,
            call_id: call.callId,
            turn_id: call.turnId,
            session_key: call.sessionKey,
            principal: call.principal,
            tool: call.tool,
            origin: call.origin,
            input: encodeJson(call.input),
            idempotent: call.idempotent ? 1 : 0,
            at: call.at,
          });
          if (!call.idempotent) markUnsafe.run({ id: call.turnId });
        },
        call.idempotent ? "with the next" : "now",
      ),
    async settle(id, { status, output, ms }) {
      const known = await write(() => end.run({ id, status, output, ms: Math.round(ms) }) > 0, "with the next");
      if (!known) log.warn("end of an unknown tool call ignored", { toolCallId: id });
    },
  };
}
