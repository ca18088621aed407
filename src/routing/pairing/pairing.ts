/**
 * Lets strangers in, one at a time and by an owner's word. All entries are held in memory and written through, so that a stranger who
 * writes a thousand times costs a thousand looks into a map and nothing else.
 */
import type { PairedPerson, Pairing, PairingRow, PairingStore, Stranger } from "../../contracts/channels/pairing.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Changes } from "../grants.ts";
import { isPerson } from "../identity.ts";
import { codeDigest, newCode } from "./codes.ts";
import { createDecisions, type DecisionDeps, shown } from "./decisions.ts";

interface PairingDeps extends DecisionDeps, Changes {
  readonly ids: Ids;
  readonly store: PairingStore;
}

/** A code lives this long, and its owner hears nothing more from us meanwhile. */
export const CODE_TTL_MS = 60 * 60 * 1_000;
/** Strangers of one account who may wait at the same time. */
export const MAX_PENDING = 3;
const MAX_NAME_CHARS = 80;

export async function openPairing(deps: PairingDeps): Promise<Pairing> {
  const { clock, ids, store } = deps;
  const read = async () => (await store.list()).map((row) => [personKey(row), row] as const);
  const rows = new Map(await read());
  let changes = 0;
  let queue: Promise<unknown> = Promise.resolve();
  /** One change at a time, so that no decision is made about a row that another one is changing. */
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const done = queue.then(change);
    queue = done.catch(() => undefined); // whoever asked hears of it
    return done;
  };
  const keep = async (row: PairingRow): Promise<void> => {
    await store.put(row);
    rows.set(personKey(row), row);
    changes++;
    deps.changed();
    await deps.spread();
  };
  const decisions = createDecisions(deps, { all: () => [...rows.values()], keep });

  return {
    isPaired: (principal, channel, account) =>
      rows.get(personKey({ principal, channel, account }))?.state === "approved",
    async ask(stranger) {
      if (!mayAsk([...rows.values()], stranger, clock.now())) return null;
      return inTurn(async () => {
        const now = clock.now();
        for (const [key, row] of rows) if (row.state !== "approved" && row.expiresAt <= now) rows.delete(key);
        if (!mayAsk([...rows.values()], stranger, now)) return null;
        const id = ids.next("pair");
        const code = newCode(ids);
        await keep(newRow(stranger, { id, digest: codeDigest(id, code), now }));
        deps.log.info("pairing code given", { id, channel: stranger.channel, account: stranger.account });
        return pairingText(code);
      });
    },
    list: () => listed(deps, [...rows.values()], clock.now()),
    approve: (request, by) => inTurn(() => decisions.approve(request, by)),
    revoke: (codeOrId, by) => inTurn(() => decisions.revoke(codeOrId, by)),
    undo: (id, by) => inTurn(() => decisions.undo(id, by)),
    /** Not one after the other with changes: a change waits for all gateways, and two that wait for each other would wait for ever. */
    async reload() {
      for (;;) {
        const before = changes;
        const now = await read();
        if (before !== changes) continue; // what was read may be older than what is here
        rows.clear();
        for (const [key, row] of now) rows.set(key, row);
        return;
      }
    },
  };
}

function pairingText(code: string): string {
  return `This assistant does not know you yet. To get access, ask its owner to approve this code within the hour: ${code}`;
}

function mayAsk(rows: readonly PairingRow[], stranger: Stranger, now: number): boolean {
  if (!isPerson(stranger.principal)) return false;
  const own = rows.find((row) => personKey(row) === personKey(stranger));
  if (own?.state === "approved") return false;
  if (own && own.expiresAt > now) return false; // was told already, also when an owner said no
  const { channel, account } = stranger;
  const waiting = rows.filter(
    (row) => row.state === "pending" && row.expiresAt > now && row.channel === channel && row.account === account,
  );
  return waiting.length < MAX_PENDING;
}

function listed(deps: PairingDeps, rows: readonly PairingRow[], now: number): readonly PairedPerson[] {
  const latest = rows.toSorted((a, b) => b.createdAt - a.createdAt);
  const waiting = latest.filter(({ state, expiresAt }) => state === "pending" && expiresAt > now);
  return [...waiting, ...latest.filter(({ state }) => state === "approved")].map((row) => shown(deps, row));
}

function newRow(
  { principal, name, channel, account }: Stranger,
  { id, digest, now }: { readonly id: string; readonly digest: string; readonly now: number },
): PairingRow {
  return {
    id,
    digest,
    principal,
    channel,
    account,
    state: "pending",
    createdAt: now,
    expiresAt: now + CODE_TTL_MS,
    name: name
      .replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
      .trim()
      .slice(0, MAX_NAME_CHARS)
      .toWellFormed(),
    decidedAt: null,
    decidedBy: null,
  };
}

const personKey = ({ channel, account, principal }: Omit<Stranger, "name">): string =>
  JSON.stringify([channel, account, principal]);
