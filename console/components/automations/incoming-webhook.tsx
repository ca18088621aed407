/** One incoming webhook: where it is, what becomes of a request, the keys of its senders, and a test. */
import { useSignal } from "@preact/signals";
import type { WebhookCard, WebhookKey } from "../../../src/contracts/automation/webhook.ts";
import { addWebhookKey, removeWebhookKey, testWebhook } from "../../state/automations-state.ts";
import { CopyButton } from "../copy-button.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { TextArea } from "../parts/fields.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Verbatim } from "../parts/verbatim.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

interface Props {
  readonly card: WebhookCard;
  readonly isOn: boolean;
  /** The focus has to go somewhere. */
  readonly onRemoved: () => void;
}

const ABOUT: Readonly<Record<string, string>> = {
  wake: "Tells the assistant something in its main conversation.",
  agent: "Hands a message to an agent; the request says to which.",
};
const DELIVERIES: Readonly<Record<string, string>> = {
  announce: "retold in the main conversation",
  direct: "sent as it is",
  silent: "kept in the session of the webhook",
};
const SAMPLES: Readonly<Record<string, string>> = {
  wake: '{ "text": "The build is green again." }',
  agent: '{ "message": "The build is green again." }',
};

export function IncomingWebhook({ card, isOn, onRemoved }: Props) {
  const { name, signed, keys, keysAreShared, role, perMinute, mapping } = card;
  const address = `${location.origin}/hooks/${name}`;
  return (
    <section class="tool card" data-testid="webhook" aria-label={`Webhook ${name}`}>
      <h3>
        {name} <small>{signed ? "signed" : "not signed"}</small>
      </h3>
      {mapping === null && <p class="about">{ABOUT[name]}</p>}
      <FactList
        facts={[
          [
            "Address",
            <>
              <code>{address}</code> <CopyButton text={address} label={`Copy the address of ${name}`} />
            </>,
          ],
          ["Message", mapping?.message],
          ["Task", mapping?.task],
          ["Agent", mapping?.agent],
          [
            "Answer",
            mapping &&
              `${DELIVERIES[mapping.delivery] ?? mapping.delivery}${mapping.webhook === null ? "" : `, and posted to ${mapping.webhook}`}`,
          ],
          ["Rights", role],
          ["Limit", `${perMinute} requests a minute`],
        ]}
      />
      {(signed || keys.length > 0) && <Keys name={name} keys={keys} isShared={keysAreShared} onRemoved={onRemoved} />}
      {isOn && <Test name={name} />}
    </section>
  );
}

interface KeysProps {
  readonly name: string;
  readonly keys: readonly WebhookKey[];
  readonly isShared: boolean;
  readonly onRemoved: () => void;
}

function Keys({ name, keys, isShared, onRemoved }: KeysProps) {
  const { busy, problem, run } = useAction();
  return (
    <details>
      <summary>
        Keys of senders <small>{keys.length}</small>
      </summary>
      {isShared && <p class="about">All webhooks without keys of their own have these.</p>}
      <ul class="webhook-keys" aria-label={`Keys of ${name}`}>
        {keys.map(({ id, path }) => (
          <li key={path} data-testid="webhook-key">
            <code>{id}</code>
            {keys.length > 1 && (
              <AskFirst
                verb="Remove"
                to={`key ${id} of ${name}`}
                question={`Refuse what is signed with ${id} from now on?`}
                act={() => removeWebhookKey(name, id)}
                onDone={onRemoved}
              />
            )}
          </li>
        ))}
      </ul>
      <p class="about">
        To change a key, make a new one, give it to the senders, and remove the old one when none of them uses it.
      </p>
      <button
        type="button"
        class="quiet small edged"
        disabled={busy}
        aria-label={`New key for ${name}`}
        onClick={() => void run(() => addWebhookKey(name))}
      >
        New key
      </button>
      <Problem text={problem} />
    </details>
  );
}

function Test({ name }: { readonly name: string }) {
  const body = useSignal(SAMPLES[name] ?? "{}");
  const result = useSignal<string | null>(null);
  const { busy, problem, run } = useAction();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    result.value = null;
    void run(async () => {
      const answer = await testWebhook(name, body.value);
      if (answer.ok) result.value = answer.value.text;
      return answer.ok ? null : answer.error.message;
    });
  };
  return (
    <details>
      <summary>Test</summary>
      <form class="form" aria-label={`Test of ${name}`} onSubmit={submit}>
        <TextArea label="What a sender would send, as JSON" value={body} rows={4} code required />
        <p class="about">It is signed as a sender would, and begins what it asks for.</p>
        <button type="submit" class="quiet edged" disabled={busy}>
          Send test
        </button>
        <Problem text={problem} />
      </form>
      {result.value !== null && (
        <div role="status" data-testid="test-result">
          <p class="about">Taken. The agent gets:</p>
          <Verbatim name="What the agent gets">{result.value}</Verbatim>
        </div>
      )}
    </details>
  );
}
