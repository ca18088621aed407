/** Below the composer: which agent and model answer here. Opens the choice between them, which is loaded only then. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { agent, chosenModel, chosenThinking, usualModel } from "../../state/answering.ts";
import { DEFAULT_AGENT } from "../../state/route.ts";
import { Icon } from "../icons.tsx";

type Choices = ComponentType<{ readonly onClose: () => void }>;

export function AnsweringButton() {
  const choices = useSignal<{ readonly Shown: Choices } | null>(null);
  const open = async () => {
    const { AnsweringDialog } = await import("./answering-dialog.tsx");
    choices.value = { Shown: AnsweringDialog };
  };
  const words = [
    ...(agent.value === DEFAULT_AGENT ? [] : [agent.value]),
    chosenModel.value ?? usualModel.value ?? "model",
    ...(chosenThinking.value === null ? [] : [`thinks: ${chosenThinking.value}`]),
  ];
  const Shown = choices.value?.Shown;
  return (
    <>
      <button
        type="button"
        class="quiet small answering"
        data-testid="answering"
        title="Choose agent, model and thinking"
        onClick={() => void open()}
      >
        <Icon name="model" size={16} />
        <span class="hidden">Who answers here:</span> <span dir="auto">{words.join(" · ")}</span>
      </button>
      {Shown && <Shown onClose={() => (choices.value = null)} />}
    </>
  );
}
