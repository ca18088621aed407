/** People who write from channels: who waits and who was approved. Rows stand still while somebody looks, so that no press lands on another person. */
import { useEffect } from "preact/hooks";
import { closePeople, openPeople, peopleRows, type PersonRow } from "../../state/people.ts";
import { useLastingHeight } from "../parts/lasting-height.ts";
import { Person } from "./person.tsx";

export function People() {
  useEffect(() => {
    openPeople();
    return closePeople;
  }, []);
  const rows = peopleRows.value ?? [];
  return (
    <section class="people" aria-labelledby="people-title">
      <h2 id="people-title">People</h2>
      {rows.length === 0 ? (
        <p class="list-note">Nobody has written from a channel yet.</p>
      ) : (
        <p class="about">
          Everybody who waits was given a code. Ask them for it, and give them access with it: only then do you know who
          they are.
        </p>
      )}
      <ul aria-label="People">
        {rows.map((row) => (
          <PersonItem key={row.person.id} row={row} />
        ))}
      </ul>
    </section>
  );
}

function PersonItem({ row }: { readonly row: PersonRow }) {
  return (
    <li ref={useLastingHeight()}>
      <Person row={row} />
    </li>
  );
}
