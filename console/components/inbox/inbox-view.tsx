/** The inbox: everything that needs a person, in one list whose rows stand still while somebody looks. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type InboxRow, keepRows } from "../../state/inbox.ts";
import { waitingItems } from "../../state/inbox-state.ts";
import { closePeople, openPeople } from "../../state/people.ts";
import { approvalOf } from "../../state/route.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { NotifySwitch } from "../parts/notify-switch.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { InboxEntry } from "./inbox-entry.tsx";
import { Rules } from "./rules.tsx";

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
  useNamedItem(rows.value);
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
      <Rules />
      <section class="part inbox-notify" aria-label="Notifications">
        <NotifySwitch />
      </section>
    </ViewFrame>
  );
}

/** An address of a notification names one approval, which is shown and focused once it is there. */
function useNamedItem(rows: readonly InboxRow[]): void {
  const shown = useRef("");
  useEffect(() => {
    const show = (): void => {
      const id = approvalOf(location.hash);
      if (id === null || shown.current === id) return;
      const row = document.querySelector<HTMLElement>(`[data-testid=inbox-item][data-id="approval ${id}"]`);
      if (row) shown.current = id;
      row?.scrollIntoView({ block: "center" });
      row?.focus({ preventScroll: true });
    };
    show();
    addEventListener("hashchange", show);
    return () => removeEventListener("hashchange", show);
  }, [rows]);
}
