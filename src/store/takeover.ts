/**
 * To take over from gateways that are gone: what nobody waits for any more is ended, everything else is this gateway's. At its start it does so
 * for all that is there; while it runs, for those whose time is over by then.
 */
import type { InstanceId } from "../contracts/ids.ts";
import type { TakenOver } from "../contracts/store/nodes.ts";
import type { Clock } from "../kit/clock.ts";
import type { Chain } from "./audit/chain.ts";
import type { AuditLog } from "./audit/entries.ts";
import { createOpenApprovalsEnd } from "./rows/approvals.ts";
import type { createNodeRow } from "./rows/nodes.ts";
import { createWorkMove } from "./rows/ownership.ts";
import type { Sql } from "./sql.ts";
import type { Steps } from "./steps.ts";
import { createForgotten } from "./tool-calls/tool-calls.ts";

interface TakeoverDeps {
  readonly clock: Clock;
  readonly sql: Sql;
  readonly instanceId: InstanceId;
  readonly chain: Chain;
  readonly audit: AuditLog;
  readonly node: Pick<ReturnType<typeof createNodeRow>, "endOthers">;
}

interface Takeover {
  /** In the first transaction of a gateway, which has said who is gone. */
  atStart(): Steps<void>;
  /** Null: there is nobody to take over from. */
  whileRunning(): Steps<TakenOver | null>;
}

export function createTakeover({ clock, sql, instanceId: me, chain, audit, node }: TakeoverDeps): Takeover {
  const forgotten = createForgotten({ sql, instanceId: me }, chain);
  const endOpenApprovals = createOpenApprovalsEnd(sql, audit);
  const moveWork = createWorkMove(sql, me);
  function* take(except: InstanceId | null): Steps<Omit<TakenOver, "from">> {
    const toolCalls = yield* forgotten.end(except);
    const approvals = yield* endOpenApprovals(clock.now(), except);
    return { ...(yield* moveWork(except)), toolCalls, approvals };
  }
  return {
    *atStart() {
      yield* forgotten.adopt();
      yield* take(me);
    },
    *whileRunning() {
      const from = yield* node.endOthers();
      return from.length === 0 ? null : { from, ...(yield* take(null)) };
    },
  };
}
