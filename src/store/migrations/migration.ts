/**
 * One change of the tables: constant SQL. Databases record its name, so a name is never changed and never used again.
 *
 * On Postgres, gateways of two versions work on the same tables while they are updated one after the other. A change that only adds (a table, an
 * index, a column that may be null or has a default) leaves the older ones working. What is no longer used is taken away by a migration of a
 * later version, which says from which version on nobody misses it; until that is applied, the code works with and without it.
 */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** The oldest version that works on the tables after this. Undefined: every version, because it only adds. */
  readonly worksFrom?: string;
}
