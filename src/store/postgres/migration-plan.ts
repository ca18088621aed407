/** Decides which migrations a starting gateway applies while gateways of other versions may live on the same tables. */
import type { Migration } from "../migrations/migration.ts";

/** As the database records it. */
export interface AppliedMigration {
  readonly name: string;
  /** As in `Migration`; null: every version works with it. */
  readonly worksFrom: string | null;
}

interface MigrationLook {
  readonly applied: readonly AppliedMigration[];
  /** Of this gateway, in their order. */
  readonly known: readonly Migration[];
  /** Of this gateway. */
  readonly version: string;
  /** Versions of the gateways that live on these tables. */
  readonly live: readonly string[];
}

type MigrationPlan =
  /** Only a newer version works on these tables. */
  | { readonly kind: "too old"; readonly migration: string; readonly worksFrom: string }
  | {
      readonly kind: "apply";
      readonly apply: readonly Migration[];
      /** A later start applies them: a gateway lives that would not work with them. */
      readonly wait: readonly Migration[];
    };

export function planMigrations({ applied, known, version, live }: MigrationLook): MigrationPlan {
  for (const { name, worksFrom } of applied) {
    const isKnown = known.some((migration) => migration.name === name);
    if (isKnown || worksFrom === null || !isOlder(version, worksFrom)) continue;
    return { kind: "too old", migration: name, worksFrom };
  }
  const missing = known.filter(({ name }) => !applied.some((done) => done.name === name));
  const mustWait = ({ worksFrom }: Migration): boolean =>
    worksFrom !== undefined && live.some((other) => isOlder(other, worksFrom));
  return {
    kind: "apply",
    apply: missing.filter((migration) => !mustWait(migration)),
    wait: missing.filter(mustWait),
  };
}

const READABLE = /^\d+\.\d+\.\d+(?:[-+]|$)/;

/** A version that nobody can read is older than all. */
function isOlder(version: string, than: string): boolean {
  return !READABLE.test(version) || Bun.semver.order(version, than) < 0;
}
