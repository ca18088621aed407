/** Pairing: people who write from a channel, who waits and who was approved, in a dialog whose rows stand still. Not shown while there is nobody. */
import { useRef } from "preact/hooks";
import { closePeople, openPeople, people, peopleRows } from "../state/people.ts";
import { Icon } from "./icons.tsx";
import { Person } from "./person.tsx";

export function People() {
  const dialog = useRef<HTMLDialogElement>(null);
  const waiting = people.value.filter(({ state }) => state === "pending").length;
  if (people.value.length === 0 && peopleRows.value === null) return null;
  const open = () => {
    openPeople();
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" class="foot-button people-button" data-testid="people" onClick={open}>
        People{waiting > 0 && <span class="people-count">{waiting} waiting</span>}
      </button>
      <dialog ref={dialog} class="people" aria-label="People who write from channels" onClose={closePeople}>
        <div class="people-head">
          <h2>People</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </div>
        <p>
          Everybody who waits was given a code. Ask them for it, and let them in with it: only then do you know who they
          are.
        </p>
        <ul>
          {(peopleRows.value ?? []).map((row) => (
            <Person key={row.person.id} row={row} />
          ))}
        </ul>
      </dialog>
    </>
  );
}
