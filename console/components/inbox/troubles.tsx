/** What went wrong and waits for a person to see it: a configuration that is not in force, a job that fails, a reply that did not arrive. */
import type { ComponentChildren, Ref } from "preact";
import { useRef } from "preact/hooks";
import type { TroubledPart } from "../../../src/contracts/delivery.ts";
import type { WireListedJob } from "../../../src/contracts/wire.ts";
import { ago } from "../../net/error-text.ts";
import { titleOf } from "../../state/asking.ts";
import { sendAgain } from "../../state/inbox-state.ts";
import { act } from "../../state/jobs-state.ts";
import { openJobs } from "../../state/palette.ts";
import { ADDRESSES, hashOf } from "../../state/route.ts";
import { minute } from "../../state/screen.ts";
import { CopyButton } from "../copy-button.tsx";
import { Icon } from "../icons.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

export function ConfigTrouble({ problems }: { readonly problems: readonly string[] }) {
  return (
    <Trouble title="The configuration file is not in force">
      <ul class="inbox-problems">
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
      <p class="about">The settings from before are used. Correct the file: it is read again when it is saved.</p>
      <div class="approval-buttons">
        <a class="quiet small edged" href={ADDRESSES.settings}>
          Open the settings
        </a>
      </div>
    </Trouble>
  );
}

export function FailingJob({ job, onDismiss }: { readonly job: WireListedJob; readonly onDismiss: () => void }) {
  const { problem, busy, run } = useAction();
  const button = (method: Parameters<typeof act>[0], words: string) => (
    <button type="button" class="quiet small edged" disabled={busy} onClick={() => void run(() => act(method, job.id))}>
      {words}
    </button>
  );
  return (
    <Trouble
      title={
        <>
          The job <code>{job.id}</code> {job.state === "disabled" ? "is switched off after failing" : "fails"}
        </>
      }
    >
      <p>{job.because ?? job.lastRun?.reason ?? "Its last run failed."}</p>
      <div class="approval-buttons">
        {button("cron.run", "Run now")}
        {job.state === "active" && button("cron.pause", "Pause")}
        <button type="button" class="quiet small edged" onClick={() => void openJobs(job.id)}>
          Show runs
        </button>
        <Dismiss onDismiss={onDismiss} />
      </div>
      <Problem text={problem} />
    </Trouble>
  );
}

interface LostReplyProps {
  readonly reply: TroubledPart;
  /** It does not wait any more. */
  readonly over: boolean;
  readonly onDismiss: () => void;
}

export function LostReply({ reply, over, onDismiss }: LostReplyProps) {
  const { state, because, to, message, endedAt, sessionKey, retried } = reply;
  const { problem, busy, run } = useAction();
  const card = useRef<HTMLElement>(null);
  const moveFocus = () => card.current?.focus(); // the button goes
  const send = async () => {
    if (await run(() => sendAgain(reply))) moveFocus();
  };
  const since = ago(endedAt, minute.value);
  const others = (
    <>
      <a class="quiet small edged" href={hashOf(sessionKey)}>
        Open “{titleOf(sessionKey)}”
      </a>
      <CopyButton text={message.text} label="Copy the reply" />
      <Dismiss onDismiss={onDismiss} />
    </>
  );
  return (
    <Trouble
      card={card}
      title={state === "dead" ? "A reply was not delivered" : "A reply may have arrived twice, or not at all"}
    >
      <p>
        To {to.channel}, {since === "now" ? "just now" : since}: {because}
        {retried && " (sent again before)"}
      </p>
      <blockquote class="inbox-quote" dir="auto">
        {message.text}
      </blockquote>
      {state === "ambiguous" && !over ? (
        <AskFirst
          verb="Send again"
          to="the reply"
          question="It may have arrived, and then the chat shows it twice. Look into the chat first."
          otherwise="Do not send"
          act={() => sendAgain(reply)}
          onDone={moveFocus}
        >
          {others}
        </AskFirst>
      ) : (
        <div class="approval-buttons">
          {others}
          {!over && (
            <button type="button" class="quiet small edged" disabled={busy} onClick={() => void send()}>
              Send again
            </button>
          )}
        </div>
      )}
      <Problem text={problem} />
    </Trouble>
  );
}

function Dismiss({ onDismiss }: { readonly onDismiss: () => void }) {
  return (
    <button type="button" class="quiet small" onClick={onDismiss}>
      Dismiss
    </button>
  );
}

interface TroubleProps {
  readonly title: ComponentChildren;
  /** For the focus. */
  readonly card?: Ref<HTMLElement>;
  readonly children: ComponentChildren;
}

function Trouble({ title, card = null, children }: TroubleProps) {
  return (
    <section class="approval trouble" data-decision="open" ref={card} tabIndex={-1}>
      <h2>
        <Icon name="alert" size={18} />
        <span>{title}</span>
      </h2>
      {children}
    </section>
  );
}
