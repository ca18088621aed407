/** Fields of forms: a label above, one look. What was typed is in a signal of the form. */
import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";

interface TextFieldProps {
  readonly label: string;
  readonly value: Signal<string>;
  readonly type?: "text" | "number" | "datetime-local" | "password";
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly placeholder?: string;
  /** A name, id or code: the browser must not complete, correct or capitalise it. */
  readonly exact?: boolean;
  readonly min?: string;
  readonly step?: string;
  /** Takes the room that others leave. */
  readonly wide?: boolean;
  /** The id of a datalist: what a browser offers while somebody types. */
  readonly list?: string;
  /** A person has typed, after the signal has the new text. */
  readonly onTyped?: () => void;
  /** What is wrong with what was typed. */
  readonly problem?: string | undefined;
}

/** Below its field, which names it with `aria-describedby`. Outside of the label, because it is no part of the name of the field. */
export function FieldProblem({ id, text }: { readonly id: string; readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="field-problem" id={id} dir="auto">
      {text}
    </p>
  );
}

function wrong(id: string, problem: string | undefined) {
  return problem === undefined ? {} : { "aria-invalid": true as const, "aria-describedby": id };
}

export function TextField(props: TextFieldProps) {
  const { label, value, wide = false, exact = false, type = "text", onTyped, problem, ...input } = props;
  const id = useId();
  return (
    <>
      <label class={wide ? "field grow" : "field"}>
        <span>{label}</span>
        <input
          dir="auto"
          {...input}
          {...(exact ? EXACT : {})}
          {...wrong(id, problem)}
          type={type as "text"} // the types of Preact want to know which of them
          value={value.value}
          onInput={(event) => {
            value.value = event.currentTarget.value;
            onTyped?.();
          }}
        />
      </label>
      <FieldProblem id={id} text={problem} />
    </>
  );
}

interface TextAreaProps {
  readonly label: string;
  readonly value: Signal<string>;
  readonly rows: number;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly placeholder?: string;
  /** A text in which every character counts: one width for all, and nothing is corrected. */
  readonly code?: boolean;
  readonly problem?: string | undefined;
}

export function TextArea({ label, value, code = false, problem, ...area }: TextAreaProps) {
  const id = useId();
  return (
    <>
      <label class="field whole">
        <span>{label}</span>
        <textarea
          {...area}
          {...(code ? EXACT : {})}
          {...wrong(id, problem)}
          class={code ? "code" : ""}
          dir={code ? "ltr" : "auto"}
          value={value.value}
          onInput={(event) => (value.value = event.currentTarget.value)}
        />
      </label>
      <FieldProblem id={id} text={problem} />
    </>
  );
}

export function CheckField({ label, value }: { readonly label: string; readonly value: Signal<boolean> }) {
  return (
    <label class="check-field">
      <input type="checkbox" checked={value.value} onChange={(event) => (value.value = event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

const EXACT = { autocomplete: "off", autocapitalize: "none", spellcheck: false } as const;

interface SelectFieldProps {
  readonly label: string;
  readonly value: Signal<string>;
  /** Value and words of each. */
  readonly choices: readonly (readonly [string, string])[];
  readonly problem?: string | undefined;
}

export function SelectField({ label, value, choices, problem }: SelectFieldProps) {
  const id = useId();
  return (
    <>
      <label class="field">
        <span>{label}</span>
        <select
          {...wrong(id, problem)}
          value={value.value}
          onChange={(event) => (value.value = event.currentTarget.value)}
        >
          {choices.map(([chosen, words]) => (
            <option key={chosen} value={chosen}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <FieldProblem id={id} text={problem} />
    </>
  );
}
