/** Tools that a job cannot do without, chosen by name. */
import { type Signal, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { TextField } from "../parts/fields.tsx";

interface Props {
  readonly needs: Signal<readonly string[]>;
  readonly tools: readonly string[];
}

const MAX_NEEDS = 20;
const MAX_NAME = 64;

export function ToolPicker({ needs, tools }: Props) {
  const ids = useId();
  const typed = useSignal("");
  const add = (): void => {
    const name = typed.value.trim();
    if (name === "" || needs.value.length >= MAX_NEEDS) return;
    if (!needs.value.includes(name)) needs.value = [...needs.value, name];
    typed.value = "";
  };
  return (
    <fieldset class="tool-picker">
      <legend>Tools it needs</legend>
      <p class="about">Without one of them a run fails before a model is asked.</p>
      <ul aria-label="Tools it needs">
        {needs.value.map((name) => (
          <li key={name}>
            <code>{name}</code>
            <button
              type="button"
              class="quiet small"
              aria-label={`Not ${name}`}
              onClick={() => (needs.value = needs.value.filter((one) => one !== name))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <div class="tool-picker-add">
        <TextField label="Tool" value={typed} maxLength={MAX_NAME} list={`${ids}-tools`} exact />
        <datalist id={`${ids}-tools`}>
          {tools.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button type="button" class="quiet edged" onClick={add}>
          Add
        </button>
      </div>
    </fieldset>
  );
}
