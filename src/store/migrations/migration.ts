/** One change of the tables: constant SQL. Databases record its name, so a name is never changed and never used again. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}
