/** Names with secret values: those of the settings by name alone, and new ones. A value is typed and never shown. */
import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { NamedSecret } from "../../../text/server-edits.ts";
import { FieldProblem } from "../../parts/fields.tsx";

interface Props {
  readonly legend: string;
  /** One of them: "variable". */
  readonly one: string;
  readonly secrets: Signal<readonly NamedSecret[]>;
  readonly problem?: string | undefined;
}

const MAX_SECRETS = 50;
const MAX_NAME = 128;
const MAX_VALUE = 32_768;
const EXACT = { autocomplete: "off", autocapitalize: "none", spellcheck: false } as const;

export function NamedSecrets({ legend, one, secrets, problem }: Props) {
  const id = useId();
  const rows = secrets.value;
  const change = (next: NamedSecret): void => {
    secrets.value = rows.map((row) => (row.id === next.id ? next : row));
  };
  const add = (): void => {
    const next = Math.max(-1, ...rows.map((row) => row.id)) + 1;
    secrets.value = [...rows, { id: next, name: "", value: "", isKept: false }];
  };
  const wrong = problem === undefined ? {} : { "aria-invalid": true as const, "aria-describedby": id };
  return (
    <fieldset class="tool-picker named-secrets">
      <legend>{legend}</legend>
      {rows.map((row, at) => (
        <div key={row.id} class="named-secret" role="group" aria-label={`${one} ${row.name || at + 1}`}>
          {row.isKept ? (
            <code>{row.name}</code>
          ) : (
            <label class="field">
              <span>Name</span>
              <input
                {...EXACT}
                {...wrong}
                dir="ltr"
                maxLength={MAX_NAME}
                value={row.name}
                onInput={(event) => change({ ...row, name: event.currentTarget.value })}
              />
            </label>
          )}
          <label class="field grow">
            <span>{row.isKept ? "New value" : "Value"}</span>
            <input
              {...EXACT}
              {...(row.isKept ? {} : wrong)}
              type="password"
              dir="ltr"
              maxLength={MAX_VALUE}
              placeholder={row.isKept ? "set; stays as it is" : ""}
              value={row.value}
              onInput={(event) => change({ ...row, value: event.currentTarget.value })}
            />
          </label>
          <button
            type="button"
            class="quiet edged"
            aria-label={`Remove ${one} ${row.name || at + 1}`}
            onClick={() => (secrets.value = rows.filter((other) => other.id !== row.id))}
          >
            Remove
          </button>
        </div>
      ))}
      <button type="button" class="quiet edged" disabled={rows.length >= MAX_SECRETS} onClick={add}>
        Add {one}
      </button>
      <FieldProblem id={id} text={problem} />
    </fieldset>
  );
}
