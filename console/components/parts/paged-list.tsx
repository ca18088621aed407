/** A list as every view shows one: its rows, a sentence when there are none or they could not be read, and a button for more. */
import type { ComponentChildren } from "preact";
import type { Paged } from "../../state/paged.ts";

interface Props<T> {
  /** What a screen reader calls the list. */
  readonly name: string;
  readonly list: Paged<T>;
  /** A sentence for a list that could not be read. */
  readonly failed: string;
  /** In place of rows when there are none. */
  readonly empty: ComponentChildren;
  readonly keyOf: (item: T) => string;
  readonly onMore?: () => void;
  readonly children: (item: T) => ComponentChildren;
}

export function PagedList<T>({ name, list, failed, empty, keyOf, onMore, children }: Props<T>) {
  const { phase, items, next } = list;
  return (
    <>
      {phase === "failed" && <p class="list-note">{failed}</p>}
      {phase === "ready" &&
        items.length === 0 &&
        (typeof empty === "string" ? <p class="list-note">{empty}</p> : empty)}
      <ul class="tool-list" aria-label={name} aria-busy={phase === "loading"}>
        {items.map((item) => (
          <li key={keyOf(item)}>{children(item)}</li>
        ))}
      </ul>
      {next !== null && onMore && (
        <button type="button" class="quiet earlier" onClick={onMore}>
          Show more
        </button>
      )}
    </>
  );
}
