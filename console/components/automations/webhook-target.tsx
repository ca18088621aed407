/** One address that results are posted to, with a test. */
import { useSignal } from "@preact/signals";
import type { WebhookList } from "../../../src/contracts/automation/webhook.ts";
import { readWebhooks, testTarget } from "../../state/automations-state.ts";
import { changeConfig } from "../../state/config-state.ts";
import { AskFirst } from "../parts/ask-first.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

interface Props {
  readonly target: WebhookList["targets"][number];
  /** The focus has to go somewhere. */
  readonly onRemoved: () => void;
}

export function WebhookTarget({ target: { name, url, signed, privateNetwork }, onRemoved }: Props) {
  const said = useSignal<string | null>(null);
  const { busy, problem, run } = useAction();
  const test = () => {
    said.value = null;
    void run(async () => {
      const answer = await testTarget(name);
      if (!answer.ok) return answer.error.message;
      if (answer.value.ok) said.value = answer.value.say;
      return answer.value.ok ? null : answer.value.say;
    });
  };
  const remove = async (): Promise<string | null> => {
    const because = await changeConfig({ edits: [{ path: ["hooks", "targets", name] }] });
    await readWebhooks();
    return because;
  };
  return (
    <section class="tool card" data-testid="webhook-target" aria-label={`Webhook target ${name}`}>
      <h3>
        {name} <small>{signed ? "signed" : "not signed"}</small>
      </h3>
      <FactList
        facts={[
          ["Address", <code>{url}</code>],
          ["Network", privateNetwork ? "this machine or a private network" : null],
        ]}
      />
      <AskFirst
        verb="Remove"
        to={`the target ${name}`}
        question="Remove it from the settings? Jobs and webhooks that post to it cannot stay as they are."
        act={remove}
        onDone={onRemoved}
      >
        <button
          type="button"
          class="quiet small edged"
          disabled={busy}
          aria-label={`Post a test to ${name}`}
          onClick={test}
        >
          Post a test
        </button>
      </AskFirst>
      {said.value !== null && (
        <p class="about" role="status">
          {said.value}
        </p>
      )}
      <Problem text={problem} />
    </section>
  );
}
