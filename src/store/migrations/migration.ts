/** One step of the database's shape: constant SQL, run in one transaction. Its number is its place in the list of steps. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}
