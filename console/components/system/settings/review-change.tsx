/** A change of the settings before it is saved: what is wrong with it and where, what it changes, the changed lines, and then the saving. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ConfigProposal, ProposedConfig, SavedConfig, SettingForm } from "../../../../src/contracts/config-api.ts";
import { configFile, proposeConfig, savedSaid, saveConfig } from "../../../state/config-state.ts";
import { settings } from "../../../state/system-state.ts";
import { diffLines } from "../../../text/diff.ts";
import { hunksOf } from "../../../text/hunks.ts";
import { shownValue } from "../../../text/setting-value.ts";
import { Problem, useAction } from "../../parts/use-action.tsx";
import { Verbatim } from "../../parts/verbatim.tsx";

interface Props {
  /** What it is called: "2 changes". */
  readonly name: string;
  readonly change: ProposedConfig;
  /** It is saved. */
  readonly onDone: () => void;
  /** Shows a place in the text; left out where there is none. */
  readonly onPlace?: (line: number, column: number) => void;
}

const MARKS = { same: " ", removed: "-", added: "+" } as const;

export function ReviewChange({ name, change, onDone, onPlace }: Props) {
  const proposal = useSignal<ConfigProposal | null>(null);
  const file = configFile.value;
  const { busy, problem, run } = useAction();
  const version = file === null || file === "failed" ? "" : file.version;
  const wanted = JSON.stringify(change);
  useEffect(() => {
    let current = true;
    void proposeConfig({ ...change, version }).then((answer) => {
      if (current) proposal.value = answer.ok ? answer.value : null;
    });
    return () => {
      current = false;
    };
  }, [wanted, version]);
  const save = async (): Promise<string | null> => {
    const answer = await saveConfig({ ...change, version });
    if (!answer.ok) return answer.error.message;
    if (!answer.value.written) return "It has problems, and was not saved.";
    if (answer.value.notInForce.length > 0) return notInForceText(answer.value);
    savedSaid.value = savedText(answer.value);
    onDone();
    return null;
  };
  const now = proposal.value;
  return (
    <section class="tool card review" aria-label="Review before saving" data-testid="review">
      <h3>
        {name} <small>not saved yet</small>
      </h3>
      {now && <Proposal now={now} {...(onPlace ? { onPlace } : {})} />}
      <div class="approval-buttons">
        <button
          type="button"
          class="primary"
          disabled={busy || now === null || now.problems.length > 0}
          onClick={() => void run(save)}
        >
          Save
        </button>
        <button type="button" class="quiet edged" onClick={onDone}>
          Discard
        </button>
      </div>
      <Problem text={problem} />
    </section>
  );
}

function notInForceText({ notInForce }: SavedConfig): string {
  return `It is saved, and not in force: ${notInForce.join(" ")}`;
}

function savedText({ changes, weakensAuth }: SavedConfig): string {
  const later = changes.filter(({ needsRestart }) => needsRestart).map(({ path }) => path);
  if (later.length === 0) return weakensAuth ? "Saved. It is in force after a restart." : "Saved, and in force.";
  return `Saved. In force after a restart (pi-gw restart): ${later.join(", ")}.`;
}

function Proposal({ now, onPlace }: { readonly now: ConfigProposal; readonly onPlace?: Props["onPlace"] & {} }) {
  const file = configFile.value;
  const before = file === null || file === "failed" ? "" : (file.text ?? "");
  return (
    <>
      <Places name="Problems" places={now.problems} {...(onPlace ? { onPlace } : {})} />
      <Places name="Warnings" places={now.warnings} {...(onPlace ? { onPlace } : {})} />
      {now.weakensAuth && (
        <p class="job-note">This makes it easier to get in, so it is in force after a restart and not before.</p>
      )}
      {now.changes.length > 0 && (
        <ul class="changes" aria-label="What changes">
          {now.changes.map(({ path, before: old, after, needsRestart }) => (
            <li key={path} data-testid="change">
              <code>{path}</code>: {shownValue(old, kindOf(path))} → {shownValue(after, kindOf(path))}
              {needsRestart && <strong> needs a restart</strong>}
            </li>
          ))}
        </ul>
      )}
      {now.text !== null && <Lines before={before} after={now.text} />}
    </>
  );
}

function kindOf(path: string): SettingForm["kind"] | undefined {
  const now = settings.value;
  return now === null || now === "failed" ? undefined : now.rows.find((row) => row.path === path)?.form.kind;
}

interface PlacesProps {
  readonly name: string;
  readonly places: ConfigProposal["problems"];
  readonly onPlace?: (line: number, column: number) => void;
}

function Places({ name, places, onPlace }: PlacesProps) {
  if (places.length === 0) return null;
  return (
    <ul class="inbox-problems places" aria-label={name} data-testid={name.toLowerCase()}>
      {places.map(({ line, column, message }) => (
        <li key={`${line} ${column} ${message}`} dir="auto">
          {onPlace ? (
            <button type="button" class="quiet small edged" onClick={() => onPlace(line, column)}>
              Line {line}, column {column}
            </button>
          ) : (
            `Line ${line}, column ${column}:`
          )}{" "}
          {message}
        </li>
      ))}
    </ul>
  );
}

function Lines({ before, after }: { readonly before: string; readonly after: string }) {
  const hunks = hunksOf(diffLines(before, after));
  if (hunks.length === 0) return <p class="about">The text of the file stays as it is.</p>;
  return (
    <Verbatim isDiff name="Changed lines of the file">
      {hunks.map(({ skipped, lines }, at) => (
        <span key={at}>
          {skipped > 0 && <span class="skipped">… {skipped} lines as they are</span>}
          {lines.map(({ how, text }, number) => (
            <span key={number} class={how}>
              {MARKS[how]} {text}
            </span>
          ))}
        </span>
      ))}
    </Verbatim>
  );
}
