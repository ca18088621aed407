/** Which version runs, a look for a newer one, and the update itself with what it says. Asks nobody outside before somebody presses the button. */
import { useEffect } from "preact/hooks";
import type { UpdateReport } from "../../../src/contracts/update.ts";
import { beginUpdate, ended, followUpdate, lookForUpdate, update } from "../../state/update-state.ts";
import { AskFirst } from "../parts/ask-first.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { dateText } from "../../text/dates.ts";

export function Version() {
  useEffect(followUpdate, []);
  const { busy, problem, run } = useAction();
  const now = update.value;
  if (now === null) return null;
  return (
    <section class="part" data-testid="version">
      <h2 tabindex={-1}>Version</h2>
      <p class="about">{versionText(now)}</p>
      {now.because !== null && <p class="about">{now.because}</p>}
      {now.isRunning || ended.value !== null ? <Progress report={now} /> : null}
      {now.because === null && !now.isRunning && (
        <div class="approval-buttons">
          <button type="button" class="quiet small edged" disabled={busy} onClick={() => void run(lookForUpdate)}>
            {busy ? "Looking…" : "Look for an update"}
          </button>
        </div>
      )}
      <Problem text={problem} />
      {now.newest?.isNewer && !now.isRunning && (
        <AskFirst
          verb="Update"
          to={`to version ${now.newest.version}`}
          question="A backup is made first. Turns that run may finish, and this page reconnects by itself."
          act={beginUpdate}
          onDone={() => document.querySelector<HTMLElement>("[data-testid=version] h2")?.focus()}
        />
      )}
    </section>
  );
}

function versionText({ version, newest, last }: UpdateReport): string {
  const known =
    newest === null
      ? "The gateway does not look for newer ones by itself."
      : newest.isNewer
        ? `Version ${newest.version} is there.`
        : "It is the newest one.";
  const before =
    last === null
      ? ""
      : last.kind === "updated"
        ? ` Updated on ${dateText(last.at, "whole")}.`
        : ` Version ${last.to} did not start on ${dateText(last.at, "whole")}; the version before it runs on.`;
  return `This is version ${version}. ${known}${before}`;
}

function Progress({ report: { steps, isRunning } }: { readonly report: UpdateReport }) {
  return (
    <>
      <ol class="update-steps" aria-label="Steps of the update" aria-busy={isRunning}>
        {steps.map((step, at) => (
          <li key={at} dir="auto">
            {step}
          </li>
        ))}
      </ol>
      {isRunning && <progress class="update-progress" aria-label="The update is at work" />}
      {ended.value !== null && (
        <p class="setup-good" role="status" data-testid="update-ended" dir="auto">
          {ended.value}
        </p>
      )}
    </>
  );
}
