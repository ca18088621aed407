/** Browsers that are signed in, a link that signs in another one, and which of them get notifications. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { SignedInBrowser } from "../../../src/contracts/system-api.ts";
import { browsers, endBrowser, newSignInLink, rotateToken, readBrowsers } from "../../state/system-state.ts";
import { CopyButton } from "../copy-button.tsx";
import { SignOutButton } from "../frame/own-buttons.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { useReading } from "../parts/use-reading.ts";
import { ViewFrame } from "../parts/view-frame.tsx";
import { NotifiedBrowsers } from "./notified-browsers.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";
import { dateText } from "../../text/dates.ts";

export function BrowsersView() {
  const region = useRef<HTMLDivElement>(null);
  useReading(readBrowsers);
  const now = browsers.value;
  return (
    <ViewFrame name="System" testId="browsers-view" tabs={SYSTEM_TABS} region={region}>
      <NewLink />
      <NotifiedBrowsers onDone={() => region.current?.focus()} />
      <section class="part">
        <h2>Signed-in browsers</h2>
        {now === null && <p class="about">Reading…</p>}
        {now === "failed" && <p class="about">They could not be read. Is the gateway connected?</p>}
        <ul class="tool-list" aria-label="Signed-in browsers">
          {now !== null &&
            now !== "failed" &&
            now.map((browser) => (
              <li key={browser.id}>
                <OneBrowser browser={browser} onDone={() => region.current?.focus()} />
              </li>
            ))}
        </ul>
      </section>
      <NewToken onDone={() => region.current?.focus()} />
    </ViewFrame>
  );
}

function NewLink() {
  const link = useSignal<string | null>(null);
  const { busy, problem, run } = useAction();
  const make = () =>
    void run(async () => {
      const answer = await newSignInLink();
      link.value = answer.ok ? `${location.origin}/#code=${answer.value.code}` : null;
      return answer.ok ? null : answer.error.message;
    });
  return (
    <section class="part">
      <h2>Sign in another browser</h2>
      <p class="about">A link signs one browser in, once, within ten minutes. Whoever has it is the owner.</p>
      <button type="button" class="quiet edged" disabled={busy} onClick={make}>
        Make a sign-in link
      </button>
      <Problem text={problem} />
      {link.value !== null && (
        <p class="sign-in-link" role="status" data-testid="sign-in-link">
          <code>{link.value}</code> <CopyButton text={link.value} label="Copy the link" />
        </p>
      )}
    </section>
  );
}

/** Whoever knew the old one is out: programs and browsers alike, but for this browser. */
function NewToken({ onDone }: { readonly onDone: () => void }) {
  const isDone = useSignal(false);
  const done = () => {
    isDone.value = true;
    onDone();
  };
  return (
    <section class="part">
      <h2>Token</h2>
      <p class="about">
        Whoever has the token of the state directory is the owner. Make a new one when somebody may have seen it.
      </p>
      <AskFirst
        verb="Make a new token"
        to="the gateway"
        question="The old token is refused from then on. Programs that use it need the new one, and browsers that signed in with it are signed out, but for this one."
        act={rotateToken}
        onDone={done}
      />
      {isDone.value && (
        <p class="setup-good" role="status" data-testid="token-said">
          A new token is in the file <code>token</code> of the state directory.
        </p>
      )}
    </section>
  );
}

function OneBrowser({ browser, onDone }: { readonly browser: SignedInBrowser; readonly onDone: () => void }) {
  const { id, browser: kind, createdAt, expiresAt, current } = browser;
  const name = kind ?? `Browser ${id}`;
  const day = (at: number) => dateText(at, "whole");
  return (
    <div class="tool card" data-testid="browser">
      <h3>
        {current ? (kind === null ? "This browser" : `This browser (${kind})`) : name}
        <small>
          signed in {day(createdAt)}, until {day(expiresAt)}
        </small>
      </h3>
      {current ? (
        <SignOutButton />
      ) : (
        <AskFirst
          verb="Sign out"
          to={`${name}, signed in ${day(createdAt)}`}
          question="Sign it out? What it shows ends at once."
          act={() => endBrowser(id)}
          onDone={onDone}
        />
      )}
    </div>
  );
}
