/** People who write from a channel: who waits to be let in, who was, and the owner's word about each. Not shown while there is nobody. */
import { useRef } from "preact/hooks";
import type { PairedPerson } from "../../src/contracts/channels/pairing.ts";
import { decide, people, peopleProblem } from "../state/people.ts";
import { Icon } from "./icons.tsx";

export function People() {
  const dialog = useRef<HTMLDialogElement>(null);
  const waiting = people.value.filter(({ state }) => state === "pending").length;
  if (people.value.length === 0) return null;
  return (
    <>
      <button
        type="button"
        class="foot-button people-button"
        data-testid="people"
        onClick={() => dialog.current?.showModal()}
      >
        People{waiting > 0 && <span class="people-count">{waiting} waiting</span>}
      </button>
      <dialog ref={dialog} class="people" aria-label="People who write from channels">
        <div class="people-head">
          <h2>People</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </div>
        <p>Let somebody in only when they told you their code, or when you know the id.</p>
        {peopleProblem.value && (
          <p class="composer-problem" role="alert">
            {peopleProblem.value}
          </p>
        )}
        <ul>
          {people.value.map((person) => (
            <Person key={person.id} person={person} />
          ))}
        </ul>
      </dialog>
    </>
  );
}

function Person({ person }: { readonly person: PairedPerson }) {
  const waits = person.state === "pending";
  return (
    <li data-testid="person" data-state={person.state}>
      <span>
        <strong>{person.name || person.principal}</strong>
        <code>{person.principal}</code>
        <small>
          {waits ? "waits to be let in" : "let in"} on {person.channel}
        </small>
      </span>
      {waits && (
        <button type="button" class="quiet" onClick={() => void decide(person, "approve")}>
          Let in
        </button>
      )}
      <button type="button" class="quiet" onClick={() => void decide(person, "revoke")}>
        {waits ? "Refuse" : "Remove"}
      </button>
    </li>
  );
}
