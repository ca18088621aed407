/** The inbox: everything that needs a person, in one list whose rows stand still while somebody looks. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type InboxRow, keepRows } from "../../state/inbox.ts";
import { waitingItems } from "../../state/inbox-state.ts";
import { closePeople, openPeople } from "../../state/people.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { InboxEntry } from "./inbox-entry.tsx";

/** What waits is read from several places; before they have answered the rows may still find their order. */
const SETTLES_MS = 700;

export function InboxView() {
  const rows = useSignal<readonly InboxRow[]>([]);
  const items = waitingItems.value;
  const openedAt = useRef(Date.now());
  useEffect(() => {
    const kept = keepRows(rows.value, items);
    const settled = Date.now() - openedAt.current > SETTLES_MS;
    rows.value = settled ? kept : [...keepRows([], items), ...kept.filter(({ over }) => over)];
  }, [items]);
  useEffect(() => {
    openPeople();
    return closePeople;
  }, []);
  return (
    <ViewFrame name="Inbox" testId="inbox-view">
      {rows.value.length === 0 && (
        <EmptyState title="Nothing waits for you">
          <p>Approvals, questions, people who ask for access, failing jobs and lost replies appear here.</p>
        </EmptyState>
      )}
      <ul class="inbox" aria-label="Waiting">
        {rows.value.map((row) => (
          <InboxEntry key={row.item.id} row={row} />
        ))}
      </ul>
    </ViewFrame>
  );
}
