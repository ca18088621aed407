/** Models: keys of providers, entered and tried here and never shown; and what can answer, with what it costs. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { AgentModel } from "../../../src/contracts/agent.ts";
import type { ProviderCard } from "../../../src/contracts/model-keys.ts";
import { status } from "../../state/console-state.ts";
import { models, providers, readModels, readProviders, saveKey, testKey } from "../../state/models-state.ts";
import { AskFirst } from "../parts/ask-first.tsx";
import { SelectField, TextField } from "../parts/fields.tsx";
import { FindField } from "../parts/find-field.tsx";
import { Table } from "../parts/table.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { useReading } from "../parts/use-reading.ts";
import { ViewFrame } from "../parts/view-frame.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";

const MAX_KEY = 4_096;
const MAX_SHOWN = 200;

export function ModelsView() {
  const region = useRef<HTMLDivElement>(null);
  useReading(() => {
    void readProviders();
    void readModels();
  }, [status.value?.config, status.value?.model.name]);
  const cards = providers.value;
  const known = cards === null || cards === "failed" ? [] : cards;
  const used = known.filter(({ keyFrom, isOwn }) => keyFrom !== null || isOwn);
  return (
    <ViewFrame name="System" testId="models-view" tabs={SYSTEM_TABS} region={region}>
      <section class="part">
        <h2>Keys</h2>
        {cards === "failed" && <p class="about">The providers could not be read. Is the gateway connected?</p>}
        {known.length > 0 && <KeyEntry known={known} />}
        {cards !== null && used.length === 0 && (
          <p class="about">There is no key yet{status.value?.model.demo ? "; the demo model answers" : ""}.</p>
        )}
        <ul class="tool-list" aria-label="Providers with a key">
          {used.map((card) => (
            <li key={card.name}>
              <Provider card={card} onRemoved={() => region.current?.focus()} />
            </li>
          ))}
        </ul>
      </section>
      <ModelList />
    </ViewFrame>
  );
}

/** A key is tried before it is kept, unless nobody knows how. */
function KeyEntry({ known }: { readonly known: readonly ProviderCard[] }) {
  const provider = useSignal(known.find(({ canTest, isOwn }) => canTest && !isOwn)?.name ?? known[0]?.name ?? "");
  const key = useSignal("");
  const said = useSignal<string | null>(null);
  const { busy, problem, run } = useAction();
  const canTest = known.find(({ name }) => name === provider.value)?.canTest ?? false;
  const test = async (): Promise<string | null> => {
    said.value = null;
    const answer = await testKey(provider.value, key.value.trim());
    if (!answer.ok) return answer.error.message;
    if (answer.value.ok) said.value = `${answer.value.say}.`;
    return answer.value.ok ? null : `${answer.value.say}.`;
  };
  const save = async (): Promise<string | null> => {
    const because = (canTest ? await test() : null) ?? (await saveKey(provider.value, key.value.trim()));
    if (because === null) key.value = "";
    return because;
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void run(save);
  };
  return (
    <form class="form" aria-label="Enter a key" onSubmit={submit}>
      <SelectField label="Provider" value={provider} choices={known.map(({ name }) => [name, name] as const)} />
      <TextField label="Key" value={key} type="password" required maxLength={MAX_KEY} exact wide />
      <button
        type="button"
        class="quiet edged"
        disabled={busy || !canTest || key.value.trim() === ""}
        onClick={() => void run(test)}
      >
        Test
      </button>
      <button type="submit" class="primary" disabled={busy || key.value.trim() === ""}>
        Save key
      </button>
      <p class="about">
        It is tried by asking for the list of models, which costs nothing, then written to <code>models.keys</code> in
        the settings in the place of those of this provider. It stays in the gateway and is never shown.
      </p>
      {said.value !== null && (
        <p class="about" role="status" data-testid="key-said">
          {said.value}
        </p>
      )}
      <Problem text={problem} />
    </form>
  );
}

function Provider({ card, onRemoved }: { readonly card: ProviderCard; readonly onRemoved: () => void }) {
  const { name, keyFrom, isOwn, canTest } = card;
  const said = useSignal<string | null>(null);
  const { busy, problem, run } = useAction();
  const test = async (): Promise<string | null> => {
    said.value = null;
    const answer = await testKey(name, null);
    if (!answer.ok) return answer.error.message;
    if (answer.value.ok) said.value = `${answer.value.say}.`;
    return answer.value.ok ? null : `${answer.value.say}.`;
  };
  const button = (
    <button
      type="button"
      class="quiet small edged"
      disabled={busy || !canTest}
      aria-label={`Test ${name}`}
      onClick={() => void run(test)}
    >
      Test
    </button>
  );
  return (
    <section class="tool card" data-testid="provider" aria-label={`Provider ${name}`}>
      <h3>
        {name}{" "}
        <small>
          {keyFrom === null
            ? "without a key"
            : keyFrom === "settings"
              ? "key in the settings"
              : "key from the environment"}
        </small>
      </h3>
      {keyFrom === "settings" && !isOwn ? (
        <AskFirst
          verb="Remove"
          to={`the key of ${name}`}
          question="Take it out of the settings? A key from the environment counts then, if there is one."
          act={() => saveKey(name, null)}
          onDone={onRemoved}
        >
          {button}
        </AskFirst>
      ) : (
        <div class="approval-buttons">{button}</div>
      )}
      {said.value !== null && (
        <p class="about" role="status">
          {said.value}
        </p>
      )}
      <Problem text={problem} />
    </section>
  );
}

function ModelList() {
  const typed = useSignal("");
  const now = models.value;
  if (now === null) return <p class="list-note">Asking an agent which models there are…</p>;
  if (now === "failed") return <p class="list-note">No agent could say which models there are.</p>;
  const words = typed.value.trim().toLowerCase();
  const shown = now.items.filter(({ name }) => name.toLowerCase().includes(words)).slice(0, MAX_SHOWN);
  return (
    <section class="part">
      <h2>Models</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Narrow the models">
        <FindField name="Find a model" value={typed.value} onTyped={(text) => (typed.value = text)} />
      </form>
      <Table
        name="Models"
        columns={["Model", "In", "Out", "Thinking"]}
        rows={shown}
        keyOf={({ name }) => name}
        cells={({ name, price, thinking }: AgentModel) => [
          name === now.current ? (
            <>
              {name} <small>answers now</small>
            </>
          ) : (
            name
          ),
          price ? dollars(price.input) : "not known",
          price ? dollars(price.output) : "not known",
          thinking.join(", "),
        ]}
      />
      <p class="about">
        Prices are US dollars per million tokens, as pi has them, or <code>models.providers</code>.
      </p>
    </section>
  );
}

function dollars(amount: number): string {
  return `$${amount.toLocaleString(undefined, { maximumFractionDigits: 3 })}`;
}
