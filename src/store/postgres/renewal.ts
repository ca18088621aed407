/**
 * Says to the other gateways that this one lives, over a connection of its own: one that shared it with the writes would be late because of
 * them. A gateway that cannot say it in time holds nothing any more, until it is heard of again; one that was taken over has to end. Each time
 * it looks whether the others have said it as well.
 */
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import { judgeTakeover, NODE_EXPIRY_MS, RENEW_MS } from "../node-expiry.ts";
import type { Answer } from "../steps.ts";
import type { Connection } from "./connection.ts";
import { createOwnConnection } from "./own-connection.ts";

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
  /** Calls `act`, which never rejects, after a renewal that found others whose time is over; one call at a time. */
  whenOthersEnd(act: () => Promise<void>): Disposable;
  close(): Promise<void>;
}

const NOW = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";
const RENEW = `update nodes set renewed_at = ${NOW}, expires_at = ${NOW} + ${NODE_EXPIRY_MS} where id = $1 and state <> 'gone'`;
/** Those that were not heard of in time, and those that ended and left something. */
const OTHERS_OVER = `select count(*)::int as count from nodes where id <> $1 and taken_over_by is null and expires_at <= ${NOW}`;

interface Begun {
  /** When the row of this gateway was asked for. */
  readonly at: number;
  /** Since when the database answers: others may not have been heard of for that reason. */
  readonly upSince: number;
}

/** `begun`: by the clock that measures. What there was to take over at the start was taken over then. */
export function startRenewal({ clock, log, connect, instanceId, supersede }: RenewalDeps, begun: Begun): Renewal {
  const closing = new AbortController();
  let heldUntil = begun.at + NODE_EXPIRY_MS;
  const connection = createOwnConnection(clock, connect);
  const ask = (text: string): Promise<Answer> => connection.ask(text, [instanceId]);
  let failing = false;
  let steadySince = begun.upSince;

  const others = watchOthers({ clock, log, countOver: async () => countIn(await ask(OTHERS_OVER)) });

  /** False: the row says that this gateway is gone. */
  const renew = async (): Promise<boolean> => {
    await connection.open();
    const askedAt = clock.elapsed(); // the server adds the time to a later moment, so this gateway is the first to think that it is over
    if ((await ask(RENEW)).count === 0) return false;
    if (failing || askedAt >= heldUntil) steadySince = askedAt;
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
        if (!isRenewed) {
          heldUntil = -Infinity;
          return supersede(supersededError());
        }
        await others.look({ heldUntil, steadySince });
      } catch (error) {
        if (closing.signal.aborted) return;
        report(error);
        connection.drop();
      }
    }
  };
  const running = run();

  return {
    isHeld: () => clock.elapsed() < heldUntil,
    whenOthersEnd: others.whenOver,
    async close() {
      closing.abort(new Error("the store is closed"));
      await connection.close();
      await running;
    },
  };
}

interface OthersDeps extends Pick<RenewalDeps, "clock" | "log"> {
  /** How many others have not renewed in time, or ended and left something. */
  countOver(): Promise<number>;
}

/** Tells whoever watches that the time of other gateways is over. Without a watch nobody is looked for. */
function watchOthers({ clock, log, countOver }: OthersDeps) {
  let act: (() => Promise<void>) | null = null;
  let acting = false;
  /** Never rejects: `wanted` never does. */
  const actOnce = async (wanted: () => Promise<void>): Promise<void> => {
    acting = true;
    await wanted();
    acting = false;
  };
  return {
    whenOver(wanted: () => Promise<void>): Disposable {
      act = wanted;
      return { [Symbol.dispose]: () => void (act = null) };
    },
    async look(mine: { readonly heldUntil: number; readonly steadySince: number }): Promise<void> {
      if (act === null || acting) return;
      const over = await countOver();
      const verdict = judgeTakeover({ ...mine, now: clock.elapsed(), over });
      if (verdict === "nobody") return;
      log.info("other gateways were not heard of in time", { over, verdict });
      if (verdict === "take over") void actOnce(act); // beside the renewals, which must not wait for it
    },
  };
}

function countIn({ rows: [row] }: Answer): number {
  return (row as { readonly count: number } | undefined)?.count ?? 0;
}

export function supersededError(cause?: unknown): GatewayError {
  return new GatewayError("superseded", "another gateway has taken over", { cause });
}
