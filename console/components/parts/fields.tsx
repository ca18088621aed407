/** Fields of forms: a label above, one look. What was typed is in a signal of the form. */
import type { Signal } from "@preact/signals";

interface TextFieldProps {
  readonly label: string;
  readonly value: Signal<string>;
  readonly type?: "text" | "number" | "datetime-local";
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly placeholder?: string;
  /** A name, id or code: the browser must not complete, correct or capitalise it. */
  readonly exact?: boolean;
  readonly min?: string;
  readonly step?: string;
  /** Takes the room that others leave. */
  readonly wide?: boolean;
}

export function TextField({ label, value, wide = false, exact = false, type = "text", ...input }: TextFieldProps) {
  return (
    <label class={wide ? "field grow" : "field"}>
      <span>{label}</span>
      <input
        dir="auto"
        {...input}
        {...(exact ? EXACT : {})}
        type={type as "text"} // the types of Preact want to know which of them
        value={value.value}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
    </label>
  );
}

const EXACT = { autocomplete: "off", autocapitalize: "none", spellcheck: false } as const;

interface SelectFieldProps {
  readonly label: string;
  readonly value: Signal<string>;
  /** Value and words of each. */
  readonly choices: readonly (readonly [string, string])[];
}

export function SelectField({ label, value, choices }: SelectFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value.value} onChange={(event) => (value.value = event.currentTarget.value)}>
        {choices.map(([chosen, words]) => (
          <option key={chosen} value={chosen}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
