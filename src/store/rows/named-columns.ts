/**
 * Values ↔ columns that have the same name in the other spelling (`sessionKey`, `session_key`). Only the columns that are named are copied,
 * so a column that is not meant to be seen stays where it is. What has another form in the table is written out beside it.
 */
type Camel<Column extends string> = Column extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Column;

export function fromColumns<Row extends object, Column extends keyof Row & string>(
  columns: readonly Column[],
  row: Row,
): { readonly [Name in Column as Camel<Name>]: Row[Name] } {
  const fields = columns.map((column) => [camelOf(column), row[column]] as const);
  return Object.fromEntries(fields) as { readonly [Name in Column as Camel<Name>]: Row[Name] };
}

export function toColumns<Column extends string, Value extends { readonly [Name in Column as Camel<Name>]: unknown }>(
  columns: readonly Column[],
  value: Value,
): { readonly [Name in Column]: Value[Camel<Name> & keyof Value] } {
  const cells = columns.map((column) => [column, value[camelOf(column) as keyof Value]] as const);
  return Object.fromEntries(cells) as { readonly [Name in Column]: Value[Camel<Name> & keyof Value] };
}

const known = new Map<string, string>(); // as many as there are columns

function camelOf(column: string): string {
  const name = known.get(column) ?? column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  known.set(column, name);
  return name;
}
