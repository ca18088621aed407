/** Browsers that get notifications: when the last one was sent, what went wrong, a test, and a way to end it. */
import { useSignal } from "@preact/signals";
import type { NotifiedBrowser } from "../../../src/contracts/notifications-api.ts";
import { ago } from "../../net/error-text.ts";
import { notified, remove, test } from "../../state/notifications-state.ts";
import { minute } from "../../state/screen.ts";
import { AskFirst } from "../parts/ask-first.tsx";
import { NotifySwitch } from "../parts/notify-switch.tsx";

export function NotifiedBrowsers({ onDone }: { readonly onDone: () => void }) {
  const now = notified.value;
  return (
    <section class="part">
      <h2>Notifications</h2>
      <NotifySwitch />
      <ul class="tool-list" aria-label="Browsers that get notifications">
        {now !== null &&
          now !== "failed" &&
          now.items.map((browser) => (
            <li key={browser.id}>
              <OneBrowser browser={browser} onDone={onDone} />
            </li>
          ))}
      </ul>
    </section>
  );
}

function OneBrowser({ browser, onDone }: { readonly browser: NotifiedBrowser; readonly onDone: () => void }) {
  const { id, browser: name, sentAt, problem, current } = browser;
  const said = useSignal<string | null>(null);
  const busy = useSignal(false);
  const tryIt = async () => {
    busy.value = true;
    said.value = (await test(id)).say;
    busy.value = false;
  };
  return (
    <div class="tool card" data-testid="notified-browser">
      <h3>
        {current ? `This browser (${name})` : name}
        <small>{sentAt === null ? "nothing was sent yet" : `last notification ${ago(sentAt, minute.value)}`}</small>
      </h3>
      {problem !== null && <p class="form-problem">The last notification was not sent: {problem}.</p>}
      <AskFirst
        verb="Remove"
        to={name}
        question="Send it no more notifications?"
        act={() => remove(id)}
        onDone={onDone}
      >
        <button type="button" class="quiet small edged" disabled={busy.value} onClick={() => void tryIt()}>
          Send a test
        </button>
      </AskFirst>
      {said.value !== null && (
        <p class="about" role="status" data-testid="test-said">
          {said.value}
        </p>
      )}
    </div>
  );
}
