/** A table that scrolls in its own region when it is wider than its place: a heading for each column, and for each row its first cell. */
import type { ComponentChildren } from "preact";

interface Props<T> {
  /** What a screen reader calls it. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** One for each column; the first is the heading of the row. */
  readonly cells: (row: T) => readonly ComponentChildren[];
  /** A class for a table with looks of its own. */
  readonly look?: string;
  readonly testId?: string;
}

export function Table<T>({ name, columns, rows, keyOf, cells, look, testId }: Props<T>) {
  return (
    <div
      class={look === undefined ? "table-scroll" : `table-scroll ${look}`}
      tabindex={0}
      role="region"
      aria-label={name}
    >
      <table class="table" data-testid={testId}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const [first, ...rest] = cells(row);
            return (
              <tr key={keyOf(row)}>
                <th scope="row">{first}</th>
                {rest.map((cell, at) => (
                  <td key={at}>{cell}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
