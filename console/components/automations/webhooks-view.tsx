/** Webhooks in both directions: requests of other programs, and addresses that results are posted to. */
import { useEffect, useRef } from "preact/hooks";
import { madeSecrets, readWebhooks, webhooks } from "../../state/automations-state.ts";
import { line, status } from "../../state/console-state.ts";
import { CopyButton } from "../copy-button.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { AUTOMATION_TABS } from "./automation-tabs.ts";
import { IncomingWebhook } from "./incoming-webhook.tsx";
import { NewTarget, NewWebhook, SwitchOn } from "./new-webhook.tsx";
import { WebhookTarget } from "./webhook-target.tsx";

export function WebhooksView() {
  const region = useRef<HTMLDivElement>(null);
  useEffect(() => void readWebhooks(), [line.value, status.value?.config]);
  const now = webhooks.value;
  const onRemoved = () => region.current?.focus();
  return (
    <ViewFrame name="Automations" testId="webhooks-view" tabs={AUTOMATION_TABS} region={region}>
      {now === null && <p class="list-note">Reading…</p>}
      {now === "failed" && <p class="list-note">The webhooks could not be read. Is the gateway connected?</p>}
      <MadeSecrets />
      {now !== null && now !== "failed" && (
        <>
          <section class="part">
            <h2>Incoming</h2>
            <p class="about">Another program sends a request, and an agent deals with it.</p>
            {!now.enabled && <SwitchOn />}
            <ul class="tool-list" aria-label="Incoming webhooks">
              {now.incoming.map((card) => (
                <li key={card.name}>
                  <IncomingWebhook card={card} isOn={now.enabled} onRemoved={onRemoved} />
                </li>
              ))}
            </ul>
            {now.enabled && <NewWebhook />}
          </section>
          <section class="part">
            <h2>Outgoing</h2>
            <p class="about">Jobs and webhooks can post what they have to say to these targets as well.</p>
            <ul class="tool-list" aria-label="Webhook targets">
              {now.targets.map((target) => (
                <li key={target.name}>
                  <WebhookTarget target={target} onRemoved={onRemoved} />
                </li>
              ))}
            </ul>
            <NewTarget />
          </section>
        </>
      )}
    </ViewFrame>
  );
}

/** Keys and tokens that were made a moment ago. */
function MadeSecrets() {
  const done = useRef<HTMLButtonElement>(null);
  const made = madeSecrets.value;
  useEffect(() => {
    if (made.length > 0) done.current?.focus();
  }, [made]);
  if (made.length === 0) return null;
  return (
    <section class="key-made" aria-label="New secrets" data-testid="made-secret">
      <p>Copy this to the other program now: it is not shown again.</p>
      {made.map(({ name, secret }) => (
        <div key={name} class="key-secret">
          <strong>The {name}</strong>
          <code data-testid="secret">{secret}</code>
          <CopyButton text={secret} label={`Copy the ${name}`} />
        </div>
      ))}
      <button type="button" class="quiet small edged" ref={done} onClick={() => (madeSecrets.value = [])}>
        Done
      </button>
    </section>
  );
}
