/** One setting: its value, where that comes from, what it does, and a field that the schema makes. A change waits until all are looked at and saved. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { SettingForm } from "../../../../src/contracts/config-api.ts";
import type { SettingRow } from "../../../../src/contracts/system-api.ts";
import { dropEdit, editSetting, pendingEdits } from "../../../state/config-state.ts";
import { shownValue, textOf, valueOf } from "../../../text/setting-value.ts";
import { Problem } from "../../parts/use-action.tsx";

const JSON_ROWS = 6;

export function SettingItem({ row }: { readonly row: SettingRow }) {
  const isOpen = useSignal(false);
  const pending = pendingEdits.value.find(({ path }) => path === row.path);
  const inFileOnly = row.form.kind === "json" && row.form.inFileOnly;
  return (
    <li data-testid="setting" data-source={row.source} data-pending={pending !== undefined}>
      <code>{row.path}</code>
      <span dir="auto">{valueText(row)}</span>
      <small>
        {sourceText(row)}
        {row.needsRestart ? ", a change needs a restart" : ""}
        {row.about !== "" && ` · ${row.about}`}
      </small>
      <div class="setting-buttons">
        {inFileOnly ? (
          <small>It is changed in the file.</small>
        ) : (
          <button
            type="button"
            class="quiet small edged"
            aria-expanded={isOpen.value}
            aria-label={`Change ${row.path}`}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            Change
          </button>
        )}
        {row.source === "file" && (
          <button
            type="button"
            class="quiet small edged"
            aria-label={`Use the default of ${row.path}`}
            onClick={() => editSetting({ path: row.path })}
          >
            Use the default
          </button>
        )}
        {pending && (
          <button
            type="button"
            class="quiet small edged"
            aria-label={`Undo the change of ${row.path}`}
            onClick={() => dropEdit(row.path)}
          >
            Undo
          </button>
        )}
      </div>
      {isOpen.value && <Change row={row} onDone={() => (isOpen.value = false)} />}
      {pending && (
        <small class="setting-pending">
          Not saved yet:{" "}
          {"value" in pending
            ? row.form.kind === "secret"
              ? "a new value"
              : shownValue(pending.value, row.form.kind)
            : "the default"}
        </small>
      )}
    </li>
  );
}

function Change({ row: { path, form, value }, onDone }: { readonly row: SettingRow; readonly onDone: () => void }) {
  const id = useId();
  const text = useSignal(textOf(form, value));
  const problem = useSignal<string | null>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const typed = valueOf(form, text.value);
    problem.value = typed.ok ? null : typed.problem;
    if (!typed.ok) return;
    editSetting({ path, value: typed.value });
    onDone();
  };
  return (
    <form class="form setting-form" aria-label={`Change ${path}`} onSubmit={submit}>
      <label class="field whole" for={id}>
        <span>{labelOf(form)}</span>
        <Field id={id} form={form} text={text.value} onText={(typed) => (text.value = typed)} />
      </label>
      <button type="submit" class="primary">
        Take over
      </button>
      <button type="button" class="quiet edged" onClick={onDone}>
        Cancel
      </button>
      <Problem text={problem.value} />
    </form>
  );
}

interface FieldProps {
  readonly id: string;
  readonly form: SettingForm;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function Field({ id, form, text, onText }: FieldProps) {
  const exact = { autocomplete: "off", autocapitalize: "none", spellcheck: false } as const;
  if (form.kind === "flag" || form.kind === "choice") {
    const choices = form.kind === "flag" ? ["true", "false"] : form.choices;
    return (
      <select id={id} value={text} onChange={(event) => onText(event.currentTarget.value)}>
        {!choices.includes(text) && <option value={text}>{text === "" ? "choose" : text}</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  if (form.kind === "json")
    return (
      <textarea
        {...exact}
        id={id}
        class="code"
        dir="ltr"
        rows={JSON_ROWS}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    );
  return (
    <input
      {...exact}
      id={id}
      type={(form.kind === "secret" ? "password" : "text") as "text"} // the types of Preact want to know which of them
      inputMode={form.kind === "number" ? "decimal" : "text"}
      maxLength={form.kind === "text" ? form.maxLength : undefined}
      required
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}

function labelOf(form: SettingForm): string {
  switch (form.kind) {
    case "flag":
      return "On or off";
    case "choice":
      return "One of these";
    case "number":
      return rangeText(form);
    case "duration":
      return "A length of time, such as 30s, 5m, 2h or 1d";
    case "text":
      return form.expects === undefined ? "Text" : `It must be ${form.expects}`;
    case "secret":
      return "A new value. It is written and never shown; ${NAME} takes it from the environment";
    case "json":
      return "As JSON";
  }
}

function rangeText({ isWhole, minimum, maximum }: Extract<SettingForm, { kind: "number" }>): string {
  const kind = isWhole ? "A whole number" : "A number";
  const from = minimum === undefined ? "" : ` from ${minimum}`;
  return `${kind}${from}${maximum === undefined ? "" : ` to ${maximum}`}`;
}

function valueText({ form, value }: SettingRow): string {
  return form.kind === "duration" && form.text !== "" ? form.text : shownValue(value);
}

function sourceText({ source, line, form, ...row }: SettingRow): string {
  if (source === "default") return "default";
  const other = "byDefault" in row ? `, default: ${shownValue(row.byDefault, form.kind)}` : "";
  return source === "file"
    ? `from the file, line ${line ?? 1}${other}`
    : `from the start: a flag or the environment, which wins over the file${other}`;
}
