/** One row of the pairing dialog. Letting somebody in takes their code and a role; every decision can be undone where it was made. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Role } from "../../src/contracts/ids.ts";
import { approve, type PersonRow, revoke, undo } from "../state/people.ts";

const CODE_CHARS = 8;
const ROLES: readonly { readonly role: Role; readonly says: string }[] = [
  { role: "member", says: "Member" },
  { role: "guest", says: "Guest" },
  { role: "owner", says: "Owner: may do everything" },
];

export function Person({ row }: { readonly row: PersonRow }) {
  const { person, gone, decided } = row;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const act = async (decision: Promise<string | null>) => {
    setBusy(true);
    setProblem(await decision);
    setBusy(false);
  };
  const waits = person.state === "pending";
  const name = person.name || person.principal;
  return (
    <li ref={useLastingHeight()} data-testid="person" data-state={gone ? "gone" : person.state}>
      <span>
        <strong>{name}</strong>
        <code>{person.principal}</code>
        <small>{describe(row)}</small>
      </span>
      {decided !== null && <Undo name={name} decided={decided} busy={busy} onUndo={() => void act(undo(person))} />}
      {decided === null && !gone && waits && (
        <LetIn row={row} busy={busy} onLetIn={(code, role) => void act(approve(person, code, role))} />
      )}
      {decided === null && !gone && (
        <button
          type="button"
          class="quiet"
          disabled={busy}
          aria-label={`${waits ? "Refuse" : "Remove"} ${name}`}
          onClick={() => void act(revoke(person))}
        >
          {waits ? "Refuse" : "Remove"}
        </button>
      )}
      <p class="composer-problem person-problem" role="alert">
        {problem}
      </p>
    </li>
  );
}

/** A row never shrinks while the dialog is open, or the rows below it would move up under the pointer. */
function useLastingHeight() {
  const item = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    if (item.current) item.current.style.minHeight = `${item.current.getBoundingClientRect().height}px`;
  });
  return item;
}

function describe({ person, gone, decided }: PersonRow): string {
  const where = `on ${person.channel}`;
  if (decided !== null) return where;
  if (gone) return `${where} · no longer waits`;
  return person.state === "pending" ? `${where} · waits` : `${where} · ${person.role ?? "member"}`;
}

function LetIn(props: {
  readonly row: PersonRow;
  readonly busy: boolean;
  readonly onLetIn: (code: string, role: Role) => void;
}) {
  const { name, principal } = props.row.person;
  const [code, setCode] = useState("");
  const [role, setRole] = useState<Role>("member");
  const complete = code.replaceAll(/[\s-]/g, "").length === CODE_CHARS;
  const submit = (event: Event) => {
    event.preventDefault();
    if (complete && !props.busy) props.onLetIn(code, role);
  };
  return (
    <form class="let-in" aria-label={`Let ${name || principal} in`} onSubmit={submit}>
      <label>
        Their code
        <input
          value={code}
          maxLength={CODE_CHARS * 2}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          onInput={(event) => setCode(event.currentTarget.value)}
        />
      </label>
      <label>
        Role
        <select value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
          {ROLES.map((choice) => (
            <option key={choice.role} value={choice.role}>
              {choice.says}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="primary" disabled={!complete || props.busy}>
        Let in as {role}
      </button>
    </form>
  );
}

function Undo(props: {
  readonly name: string;
  readonly decided: string;
  readonly busy: boolean;
  readonly onUndo: () => void;
}) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!props.busy) button.current?.focus(); // the button that had the focus is gone
  }, [props.busy]);
  return (
    <>
      <span class="decided" role="status">
        {props.decided}
      </span>
      <button
        ref={button}
        type="button"
        class="quiet"
        disabled={props.busy}
        aria-label={`Undo: ${props.name}`}
        onClick={props.onUndo}
      >
        Undo
      </button>
    </>
  );
}
