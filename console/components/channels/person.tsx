/** One person on a channel. Giving access takes their code and a role; every decision can be undone where it was made. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Role } from "../../../src/contracts/ids.ts";
import { SelectField, TextField } from "../parts/fields.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { ChangeRole, ROLES } from "./change-role.tsx";
import { MayDo } from "./may-do.tsx";
import { approve, type PersonRow, revoke, undo } from "../../state/people.ts";

const CODE_CHARS = 8;

/** `offered`: the role that is chosen before somebody chooses. */
export function Person({ row, offered = "member" }: { readonly row: PersonRow; readonly offered?: Role }) {
  const { person, gone, decided } = row;
  const { busy, problem, run } = useAction();
  const waits = person.state === "pending";
  const name = person.name || person.principal;
  const role = person.role ?? "member";
  return (
    <div class="person" data-testid="person" data-state={gone ? "gone" : person.state}>
      <span>
        <strong>{name}</strong>
        <code>{person.principal}</code>
        <small>{describe(row)}</small>
      </span>
      {decided !== null && (
        <Undo name={name} decided={decided} busy={busy} onUndo={() => void run(() => undo(person))} />
      )}
      {decided === null && !gone && waits && (
        <LetIn
          row={row}
          offered={offered}
          busy={busy}
          onLetIn={(code, role) => void run(() => approve(person, code, role))}
        />
      )}
      {decided === null && !gone && (
        <button
          type="button"
          class="quiet"
          disabled={busy}
          aria-label={`${waits ? "Refuse" : "Remove"} ${name}`}
          onClick={() => void run(() => revoke(person))}
        >
          {waits ? "Refuse" : "Remove"}
        </button>
      )}
      <Problem text={problem} />
      {decided === null && !gone && !waits && <WithAccess principal={person.principal} name={name} role={role} />}
    </div>
  );
}

function WithAccess(person: { readonly principal: string; readonly name: string; readonly role: Role }) {
  return (
    <>
      <MayDo key={`may ${person.role}`} role={person.role} />
      <ChangeRole key={`role ${person.role}`} {...person} />
    </>
  );
}

function describe({ person, gone, decided }: PersonRow): string {
  const where = `on ${person.channel}`;
  if (decided !== null) return where;
  if (gone) return `${where} · no longer waits`;
  return person.state === "pending" ? `${where} · waits` : `${where} · ${person.role ?? "member"}`;
}

function LetIn(props: {
  readonly row: PersonRow;
  readonly offered: Role;
  readonly busy: boolean;
  readonly onLetIn: (code: string, role: Role) => void;
}) {
  const { name, principal } = props.row.person;
  const code = useSignal("");
  const role = useSignal<string>(props.offered);
  const complete = code.value.replaceAll(/[\s-]/g, "").length === CODE_CHARS;
  const submit = (event: Event) => {
    event.preventDefault();
    if (complete && !props.busy) props.onLetIn(code.value, role.value as Role);
  };
  return (
    <form class="form let-in" aria-label={`Give ${name || principal} access`} onSubmit={submit}>
      <TextField label="Their code" value={code} maxLength={CODE_CHARS * 2} exact />
      <SelectField label="Role" value={role} choices={ROLES} />
      <button type="submit" class="primary" disabled={!complete || props.busy}>
        Give access as {role.value}
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
