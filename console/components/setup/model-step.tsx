/** Which model answers: a provider's key, a pi login, a server of one's own, or the demo model. Each is tried before it is saved; a key is typed and never shown. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ModelInput } from "../../../src/contracts/setup.ts";
import { providers, readProviders } from "../../state/models-state.ts";
import { SelectField, TextField } from "../parts/fields.tsx";
import { Said, Step, StepButtons, useTrying } from "./step.tsx";

const MAX_KEY = 4_096;
const MAX_NAME = 200;
const MAX_ADDRESS = 1_024;
const MODEL_LIST = "setup-models";

const KINDS: readonly (readonly [ModelInput["kind"], string, string])[] = [
  ["key", "A provider's key", "Anthropic, OpenAI, Google, OpenRouter, …"],
  ["login", "A pi login on this machine", "You have logged in with pi before"],
  ["endpoint", "A model server of your own", "Ollama, vLLM, LM Studio, …"],
  ["demo", "The demo model", "Answers by rules and costs nothing"],
];

export function ModelStep() {
  useEffect(() => void readProviders(), []);
  const kind = useSignal<ModelInput["kind"]>("key");
  const provider = useSignal("anthropic");
  const key = useSignal("");
  const folder = useSignal("~/.pi/agent");
  const baseUrl = useSignal("http://127.0.0.1:11434/v1");
  const model = useSignal("");
  const trying = useTrying();
  const input = inputOf({ kind, provider, key, folder, baseUrl, model });
  const incomplete =
    (kind.value === "key" && key.value.trim() === "") || (kind.value === "endpoint" && baseUrl.value.trim() === "");
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (await trying.save({ model: input })) key.value = "";
  };
  return (
    <Step name="Model" id="model" check="model">
      <form class="form" aria-label="Choose a model" onSubmit={(event) => void submit(event)}>
        <Kinds kind={kind} />
        {kind.value === "key" && (
          <>
            <SelectField label="Provider" value={provider} choices={providerChoices()} />
            <TextField label="Key" value={key} type="password" required maxLength={MAX_KEY} exact wide />
          </>
        )}
        {kind.value === "login" && (
          <TextField label="Its pi folder" value={folder} maxLength={MAX_ADDRESS} exact wide />
        )}
        {kind.value === "endpoint" && (
          <>
            <TextField label="Its address" value={baseUrl} required maxLength={MAX_ADDRESS} exact wide />
            <TextField label="Its key, if it wants one" value={key} type="password" maxLength={MAX_KEY} exact />
          </>
        )}
        {(kind.value === "key" || kind.value === "endpoint") && (
          <>
            <TextField
              label="Model"
              value={model}
              maxLength={MAX_NAME}
              placeholder="a good one of its list"
              list={MODEL_LIST}
              exact
              wide
            />
            <datalist id={MODEL_LIST}>
              {trying.models.map((id) => (
                <option key={id} value={id} />
              ))}
            </datalist>
          </>
        )}
        <StepButtons trying={trying} incomplete={incomplete} onTest={() => void trying.test({ model: input })} />
        <Said trying={trying} />
      </form>
    </Step>
  );
}

function Kinds({ kind }: { readonly kind: Signal<ModelInput["kind"]> }) {
  return (
    <fieldset class="setup-kinds">
      <legend class="hidden">Which model shall answer?</legend>
      {KINDS.map(([value, name, about]) => (
        <label key={value}>
          <input
            type="radio"
            name="setup-model"
            value={value}
            checked={kind.value === value}
            onChange={() => (kind.value = value)}
          />
          <span>
            <strong>{name}</strong>
            <small>{about}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

type Typed = Readonly<Record<"provider" | "key" | "folder" | "baseUrl" | "model", Signal<string>>> & {
  readonly kind: Signal<ModelInput["kind"]>;
};

/** What is empty is left out: the gateway has a default for it. */
function inputOf({ kind, provider, key, folder, baseUrl, model }: Typed): ModelInput {
  const named = model.value.trim() === "" ? {} : { model: model.value.trim() };
  const typed = key.value.trim();
  switch (kind.value) {
    case "key":
      return { kind: "key", provider: provider.value, key: typed, ...named };
    case "login":
      return folder.value.trim() === "" ? { kind: "login" } : { kind: "login", folder: folder.value.trim() };
    case "endpoint":
      return { kind: "endpoint", baseUrl: baseUrl.value.trim(), ...(typed === "" ? {} : { key: typed }), ...named };
    case "demo":
      return { kind: "demo" };
  }
}

/** Those whose key can be tried come first. */
function providerChoices(): readonly (readonly [string, string])[] {
  const known = providers.value === null || providers.value === "failed" ? [] : providers.value;
  const offered = known.filter(({ isOwn }) => !isOwn);
  const names = [...offered.filter(({ canTest }) => canTest), ...offered.filter(({ canTest }) => !canTest)];
  return names.length === 0 ? [["anthropic", "anthropic"]] : names.map(({ name }) => [name, name] as const);
}
