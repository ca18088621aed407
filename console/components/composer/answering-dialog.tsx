/** The choice of agent, model and thinking level for the open conversation. A choice holds from the next message on. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import {
  agent,
  agentNames,
  choose,
  chosenModel,
  chosenThinking,
  isUnused,
  models,
  type Models,
  readChoices,
  talkTo,
  usualModel,
} from "../../state/answering.ts";
import { Icon } from "../icons.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

const MAX_SHOWN = 100;

export function AnsweringDialog({ onClose }: { readonly onClose: () => void }) {
  useEffect(() => void readChoices(), [agent.value]);
  const { busy, problem, run } = useAction();
  const found = models.value?.agent === agent.value ? models.value.found : null;
  return (
    <Dialog name="Who answers here" class="manage answering-dialog" onClose={onClose}>
      <div class="manage-head">
        <h2>Who answers here</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <AgentChoice />
      {found === null && <p class="list-note">Asking which models there are…</p>}
      {typeof found === "string" && <Problem text={found} />}
      {found !== null && typeof found === "object" && (
        <>
          <ThinkingChoice offered={found} busy={busy} onChoose={(thinking) => void run(() => choose({ thinking }))} />
          <ModelChoice offered={found} busy={busy} onChoose={(model) => void run(() => choose({ model }))} />
        </>
      )}
      <Problem text={problem} />
    </Dialog>
  );
}

function AgentChoice() {
  const names = agentNames.value;
  if (names.length < 2) return null;
  return (
    <label class="field">
      <span>Agent</span>
      <select data-testid="choose-agent" value={agent.value} onChange={(event) => talkTo(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {!isUnused.value && <span>Another agent begins a new conversation.</span>}
    </label>
  );
}

interface ChoiceProps {
  readonly offered: Models;
  readonly busy: boolean;
  readonly onChoose: (value: string | null) => void;
}

function ThinkingChoice({ offered, busy, onChoose }: ChoiceProps) {
  const model = chosenModel.value ?? usualModel.value ?? offered.current;
  const levels = offered.items.find(({ name }) => name === model)?.thinking ?? [];
  return (
    <label class="field">
      <span>Thinking</span>
      <select
        data-testid="choose-thinking"
        value={chosenThinking.value ?? ""}
        disabled={busy || levels.length < 2}
        onChange={(event) => onChoose(event.currentTarget.value || null)}
      >
        <option value="">as the agent's settings say</option>
        {levels.map((level) => (
          <option key={level} value={level}>
            {level}
          </option>
        ))}
      </select>
      {levels.length === 1 && <span>This model does not think before it answers.</span>}
    </label>
  );
}

function ModelChoice({ offered, busy, onChoose }: ChoiceProps) {
  const words = useSignal("");
  /** Shown as chosen until the gateway has answered. */
  const wanted = useSignal<string | null>(null);
  const fitting = offered.items.filter(({ name }) => name.toLowerCase().includes(words.value.trim().toLowerCase()));
  const usual = usualModel.value ?? offered.current;
  const radio = (value: string | null, text: string) => (
    <label class="answering-model" key={value ?? ""}>
      <input
        type="radio"
        name="model"
        checked={(busy ? wanted.value : chosenModel.value) === value}
        disabled={busy}
        onChange={() => {
          wanted.value = value;
          onChoose(value);
        }}
      />
      <span dir="auto">{text}</span>
    </label>
  );
  return (
    <fieldset class="answering-models">
      <legend>Model</legend>
      {offered.items.length > 8 && (
        <input
          class="answering-search"
          type="search"
          dir="auto"
          aria-label="Find a model"
          placeholder="Find a model"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      )}
      <div class="answering-list">
        {radio(null, usual === null ? "as the agent's settings say" : `as the agent's settings say: ${usual}`)}
        {fitting.slice(0, MAX_SHOWN).map(({ name }) => radio(name, name))}
      </div>
      {fitting.length > MAX_SHOWN && <p class="about">{fitting.length - MAX_SHOWN} more: write some of the name.</p>}
    </fieldset>
  );
}
