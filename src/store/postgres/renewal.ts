/**
 * Says to the other gateways that this one lives, over a connection of its own: one that shared it with the writes would be late because of
 * them. A gateway that cannot say it in time holds nothing any more, until it is heard of again; one that was taken over has to end.
 */
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { NODE_EXPIRY_MS, RENEW_MS } from "../node-expiry.ts";
import type { Connection } from "./connection.ts";
import { ConnectionLost } from "./faults.ts";

interface RenewalDeps {
  readonly clock: Clock;
  readonly log: Log;
  connect(): Promise<Connection>;
  readonly instanceId: InstanceId;
  /** Told once, when another gateway has taken over. */
  supersede(error: GatewayError): void;
}

interface Renewal {
  /** By the clock that measures, which goes on while the process is frozen. */
  isHeld(): boolean;
  close(): Promise<void>;
}

const ANSWER_MS = 2_000;
const NOW = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";
const RENEW = `update nodes set renewed_at = ${NOW}, expires_at = ${NOW} + ${NODE_EXPIRY_MS} where id = $1 and state <> 'gone'`;

/** `begunAt`: when the row of this gateway was asked for, by the clock that measures. */
export function startRenewal({ clock, log, connect, instanceId, supersede }: RenewalDeps, begunAt: number): Renewal {
  const closing = new AbortController();
  let heldUntil = begunAt + NODE_EXPIRY_MS;
  let connection: Connection | null = null;
  let failing = false;

  /** False: the row says that this gateway is gone. */
  const renew = async (): Promise<boolean> => {
    connection ??= await connect();
    const askedAt = clock.elapsed(); // the server adds the time to a later moment, so this gateway is the first to think that it is over
    using limit = clock.deadline(ANSWER_MS, () => new ConnectionLost("the server did not answer in time"));
    const asking = connection.ask({ text: RENEW, values: [instanceId], name: null });
    if ((await orAborted(asking, limit.signal)).count === 0) return false;
    heldUntil = askedAt + NODE_EXPIRY_MS;
    return true;
  };

  const report = (error: unknown): void => {
    if (error !== null && !failing) log.warn("gateway could not renew its row in the database", { error });
    if (error === null && failing) log.info("gateway renews its row in the database again");
    failing = error !== null;
  };

  /** Never rejects. */
  const run = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(RENEW_MS, closing.signal).catch(() => undefined); // closing is the normal end
      if (closing.signal.aborted) return;
      try {
        const isRenewed = await renew();
        if (closing.signal.aborted) return;
        report(null);
        if (isRenewed) continue;
        heldUntil = -Infinity;
        return supersede(supersededError());
      } catch (error) {
        if (closing.signal.aborted) return;
        report(error);
        void connection?.close(); // never rejects
        connection = null;
      }
    }
  };
  const running = run();

  return {
    isHeld: () => clock.elapsed() < heldUntil,
    async close() {
      closing.abort(new Error("the store is closed"));
      await connection?.close();
      await running;
    },
  };
}

export function supersededError(cause?: unknown): GatewayError {
  return new GatewayError("superseded", "another gateway has taken over", { cause });
}
