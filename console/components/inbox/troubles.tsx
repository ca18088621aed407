/** What went wrong and waits for a person to see it: a configuration that is not in force, a job that fails, a reply that did not arrive. */
import type { ComponentChildren } from "preact";
import type { TroubledPart } from "../../../src/contracts/delivery.ts";
import type { WireListedJob } from "../../../src/contracts/wire.ts";
import { ago } from "../../net/error-text.ts";
import { titleOf } from "../../state/asking.ts";
import { act } from "../../state/jobs-state.ts";
import { openJobs } from "../../state/palette.ts";
import { ADDRESSES, hashOf } from "../../state/route.ts";
import { minute } from "../../state/screen.ts";
import { CopyButton } from "../copy-button.tsx";
import { Icon } from "../icons.tsx";
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

export function LostReply({ reply, onDismiss }: { readonly reply: TroubledPart; readonly onDismiss: () => void }) {
  const { state, because, to, message, endedAt, sessionKey } = reply;
  const since = ago(endedAt, minute.value);
  return (
    <Trouble title={state === "dead" ? "A reply was not delivered" : "A reply may have arrived twice, or not at all"}>
      <p>
        To {to.channel}, {since === "now" ? "just now" : since}: {because}
      </p>
      <blockquote class="inbox-quote" dir="auto">
        {message.text}
      </blockquote>
      <div class="approval-buttons">
        <a class="quiet small edged" href={hashOf(sessionKey)}>
          Open “{titleOf(sessionKey)}”
        </a>
        <CopyButton text={message.text} label="Copy the reply" />
        <Dismiss onDismiss={onDismiss} />
      </div>
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

function Trouble({ title, children }: { readonly title: ComponentChildren; readonly children: ComponentChildren }) {
  return (
    <section class="approval trouble" data-decision="open">
      <h2>
        <Icon name="alert" size={18} />
        <span>{title}</span>
      </h2>
      {children}
    </section>
  );
}
