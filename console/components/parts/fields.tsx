/** Fields of forms: a label above, one look. What was typed is in a signal of the form. */
import type { Signal } from "@preact/signals";

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
}

export function TextField(props: TextFieldProps) {
  const { label, value, wide = false, exact = false, type = "text", onTyped, ...input } = props;
  return (
    <label class={wide ? "field grow" : "field"}>
      <span>{label}</span>
      <input
        dir="auto"
        {...input}
        {...(exact ? EXACT : {})}
        type={type as "text"} // the types of Preact want to know which of them
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value;
          onTyped?.();
        }}
      />
    </label>
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
}

export function TextArea({ label, value, code = false, ...area }: TextAreaProps) {
  return (
    <label class="field whole">
      <span>{label}</span>
      <textarea
        {...area}
        {...(code ? EXACT : {})}
        class={code ? "code" : ""}
        dir={code ? "ltr" : "auto"}
        value={value.value}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
    </label>
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
