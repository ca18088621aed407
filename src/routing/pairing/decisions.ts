/** What an owner decides about an entry: approve by its code and with a role, revoke, undo. Every way to approve ends here. */
import { timingSafeEqual } from "node:crypto";
import type { Approval, ApprovalRequest, PairedPerson, PairingRow } from "../../contracts/channels/pairing.ts";
import type { Principal, Role } from "../../contracts/ids.ts";
import type { RoleGrant } from "../../contracts/store/role-grants.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { AccessRules } from "../access.ts";
import type { RoleGrants } from "../grants.ts";
import { codeDigest, readCode } from "./codes.ts";

export interface DecisionDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly grants: RoleGrants;
  /** Who the configuration names. */
  roles(): AccessRules["roles"];
}

interface Entries {
  all(): readonly PairingRow[];
  keep(row: PairingRow): Promise<void>;
}

interface Decisions {
  approve(request: ApprovalRequest, by: Principal): Promise<Approval>;
  revoke(codeOrId: string, by: Principal): Promise<boolean>;
  undo(id: string, by: Principal): Promise<boolean>;
}

/** A revoked person hears nothing from us for so long. */
const SILENCE_MS = 60 * 60 * 1_000;
export const UNDO_MS = 10 * 60 * 1_000;
export const MAX_WRONG_CODES = 10;
export const WRONG_CODES_MS = 10 * 60 * 1_000;

interface Before {
  readonly row: PairingRow;
  readonly role: Role | null;
  readonly decidedAt: number;
  readonly until: number;
}

export function createDecisions(deps: DecisionDeps, entries: Entries): Decisions {
  const { clock, log, grants } = deps;
  const wrongCodes = createWrongCodes(clock);
  const before = new Map<string, Before>();
  const remember = (row: PairingRow, decidedAt: number): void => {
    for (const [id, { until }] of before) if (until <= decidedAt) before.delete(id);
    const role = grants.current().get(row.principal) ?? null;
    before.set(row.id, { row, role, decidedAt, until: decidedAt + UNDO_MS });
  };
  /** Null takes the grant away. */
  const setGrant = async (grant: Pick<RoleGrant, "principal" | "grantedBy"> & { role: Role | null }): Promise<void> => {
    const { principal, role, grantedBy } = grant;
    if ((grants.current().get(principal) ?? null) === role) return;
    if (role === null) await grants.remove(principal, grantedBy);
    else await grants.give({ principal, role, grantedBy, at: clock.now() });
  };

  return {
    async approve(request, by) {
      const retryAfterMs = wrongCodes.lockedForMs(by);
      if (retryAfterMs > 0) return { kind: "locked", retryAfterMs };
      const now = clock.now();
      const row = findByCode(entries.all(), request);
      if (row === null) wrongCodes.add(by);
      if (!row || row.state === "revoked" || (row.state === "pending" && row.expiresAt <= now))
        return { kind: row === null && isPending(entries.all(), request.id, now) ? "wrong_code" : "unknown" };
      const { id, principal } = row;
      if (row.state === "pending") {
        remember(row, now);
        // The role first: a crash in between leaves a role without a way in, and the code still works.
        if (request.role !== roleOf(deps, principal)) await setGrant({ principal, role: request.role, grantedBy: by });
        await entries.keep({ ...row, state: "approved", decidedAt: now, decidedBy: by });
        log.info("pairing approved", { id, principal, by, role: roleOf(deps, principal) });
      }
      const role = roleOf(deps, principal);
      return { kind: "approved", person: shown(deps, { ...row, state: "approved" }), role };
    },
    async revoke(codeOrId, by) {
      const row = entries.all().find(({ id }) => id === codeOrId) ?? findByCode(entries.all(), { code: codeOrId });
      if (!row || row.state === "revoked") return false;
      const now = clock.now();
      const { id, principal } = row;
      remember(row, now);
      // The role first: a crash in between must not leave the way in open.
      if (row.state === "approved") await setGrant({ principal, role: null, grantedBy: by });
      await entries.keep({ ...row, state: "revoked", expiresAt: now + SILENCE_MS, decidedAt: now, decidedBy: by });
      log.info("pairing revoked", { id, principal, by });
      return true;
    },
    async undo(id, by) {
      const earlier = before.get(id);
      if (!earlier || earlier.until <= clock.now()) return false;
      const { row, role, decidedAt } = earlier;
      before.delete(id);
      if (entries.all().find((one) => one.id === id)?.decidedAt !== decidedAt) return false; // another gateway has decided since
      await setGrant({ principal: row.principal, role, grantedBy: by });
      await entries.keep(row);
      log.info("pairing decision undone", { id, principal: row.principal, by, state: row.state });
      return true;
    },
  };
}

/** As an owner sees it. */
export function shown(deps: Pick<DecisionDeps, "grants" | "roles">, row: PairingRow): PairedPerson {
  const { id, channel, account, principal, name, createdAt, expiresAt } = row;
  const state = row.state === "approved" ? "approved" : "pending";
  const role = state === "approved" ? roleOf(deps, principal) : null;
  return { id, channel, account, principal, name, state, role, createdAt, expiresAt };
}

function roleOf({ grants, roles }: Pick<DecisionDeps, "grants" | "roles">, principal: Principal): Role {
  const { owners, members } = roles();
  if (owners.includes(principal)) return "owner";
  return members.includes(principal) ? "member" : (grants.current().get(principal) ?? "member");
}

function isPending(rows: readonly PairingRow[], id: string | undefined, now: number): boolean {
  return rows.some((row) => row.id === id && row.state === "pending" && row.expiresAt > now);
}

/** With an id, the code must be the one of that entry. */
function findByCode(rows: readonly PairingRow[], { code: text, id }: Omit<ApprovalRequest, "role">): PairingRow | null {
  const code = readCode(text);
  if (code === null) return null;
  const candidates = id === undefined ? rows : rows.filter((row) => row.id === id);
  return candidates.find((row) => sameText(codeDigest(row.id, code), row.digest)) ?? null;
}

function sameText(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

/** A code has eight characters, so it is worth guessing: ten wrong ones of an approver in ten minutes, and no code of theirs is looked at. */
function createWrongCodes(clock: Clock): { lockedForMs(by: Principal): number; add(by: Principal): void } {
  const times = new Map<Principal, readonly number[]>();
  const recent = (by: Principal): readonly number[] =>
    (times.get(by) ?? []).filter((at) => clock.elapsed() - at < WRONG_CODES_MS);
  return {
    lockedForMs(by) {
      const [oldest] = recent(by).slice(-MAX_WRONG_CODES);
      return oldest === undefined || recent(by).length < MAX_WRONG_CODES
        ? 0
        : Math.ceil(oldest + WRONG_CODES_MS - clock.elapsed());
    },
    add: (by) => void times.set(by, [...recent(by), clock.elapsed()]),
  };
}
