/** What has to be changed until each table has its policies: a decision without effects. Nothing is changed that is in order, because a change locks its table. */

export interface SecuredTable {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly isForced: boolean;
  readonly policies: readonly { readonly name: string; readonly roles: readonly string[] }[];
}

interface WantedPolicies {
  /** By table, which of its rows are a person's; null: none. */
  readonly ownRows: Readonly<Record<string, string | null>>;
  /** Who serves everybody: the owner of the tables, and the role of the gateway. */
  readonly servants: readonly string[];
}

const GATEWAY = "gateway";
const HASH_DIGITS = 8;

export function policyChanges(
  tables: readonly SecuredTable[],
  { ownRows, servants }: WantedPolicies,
): readonly string[] {
  return tables.flatMap((table) => {
    const condition = ownRows[table.name];
    return condition === undefined ? [] : changesOf(table, condition, servants);
  });
}

function changesOf(
  { name, isEnabled, isForced, policies }: SecuredTable,
  condition: string | null,
  servants: readonly string[],
): readonly string[] {
  const own = condition === null ? null : ownRowsName(condition);
  const served = policies.find((policy) => policy.name === GATEWAY);
  const to = servants.map(quoted).join(", ");
  return [
    ...(isEnabled ? [] : [`alter table ${name} enable row level security`]),
    ...(isForced ? [] : [`alter table ${name} force row level security`]),
    ...(served ? [] : [`create policy ${GATEWAY} on ${name} to ${to} using (true) with check (true)`]),
    ...(served && !isSame(served.roles, servants) ? [`alter policy ${GATEWAY} on ${name} to ${to}`] : []),
    ...policies
      .filter((policy) => policy.name !== GATEWAY && policy.name !== own)
      .map((policy) => `drop policy ${quoted(policy.name)} on ${name}`),
    ...(own === null || policies.some((policy) => policy.name === own)
      ? []
      : [`create policy ${own} on ${name} for select using (${condition})`]),
  ];
}

/** Another condition has another name, so that a policy of an earlier version is recognised. */
function ownRowsName(condition: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(condition).digest("hex");
  return `own_rows_${hash.slice(0, HASH_DIGITS)}`;
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join("\n") === others.toSorted().join("\n");
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
