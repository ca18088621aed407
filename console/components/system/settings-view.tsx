/** Every setting in force, whether the file or a default sets it, and the way back from a file that is broken. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { SettingRow, SettingsReport } from "../../../src/contracts/system-api.ts";
import { status } from "../../state/console-state.ts";
import { readSettings, revertSettings, settings } from "../../state/system-state.ts";
import { AskFirst } from "../parts/ask-first.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";

const MAX_TYPED = 100;

export function SettingsView() {
  useEffect(() => void readSettings(), [status.value?.config]);
  const now = settings.value;
  return (
    <ViewFrame name="System" testId="settings-view" tabs={SYSTEM_TABS}>
      {now === null && <p class="list-note">Reading…</p>}
      {now === "failed" && (
        <EmptyState title="The settings could not be read.">
          <p>Is the gateway connected?</p>
        </EmptyState>
      )}
      {now !== null && now !== "failed" && <Report now={now} />}
    </ViewFrame>
  );
}

function Report({ now }: { readonly now: SettingsReport }) {
  const typed = useSignal("");
  const onlySet = useSignal(true);
  const words = typed.value.trim().toLowerCase();
  const rows = now.rows.filter(
    (row) => (!onlySet.value || row.source !== "default") && (words === "" || textOf(row).includes(words)),
  );
  return (
    <section class="part">
      <h2>Settings</h2>
      <FileState now={now} />
      <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Narrow the settings">
        <select
          aria-label="Which"
          value={onlySet.value ? "set" : "all"}
          onChange={(event) => (onlySet.value = event.currentTarget.value === "set")}
        >
          <option value="set">Those that are set</option>
          <option value="all">All settings</option>
        </select>
        <input
          class="filter-text"
          type="search"
          aria-label="Find a setting"
          placeholder="Find a setting"
          maxLength={MAX_TYPED}
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
      </form>
      {rows.length === 0 && (
        <p class="about">{words === "" ? "Nothing is set; every default is in force." : "No setting matches."}</p>
      )}
      <ul class="settings" aria-label="Settings">
        {rows.map((row) => (
          <OneSetting key={row.path} row={row} />
        ))}
      </ul>
    </section>
  );
}

function FileState({ now }: { readonly now: SettingsReport }) {
  if (now.applied)
    return (
      <p class="about">
        {now.file === null ? "There is no file; the defaults are in force." : `${now.file} is in force.`}
      </p>
    );
  return (
    <div class="tool card" data-status="error" data-testid="not-in-force">
      <p>{now.file}, as it is on the disk, is not in force.</p>
      <ul class="inbox-problems">
        {now.problems.map((problem) => (
          <li key={problem} dir="auto">
            {problem}
          </li>
        ))}
      </ul>
      {now.canRevert && (
        <AskFirst
          verb="Go back"
          to="to the last good settings"
          question="Put the last settings that were in force into the file? A copy of it as it is now stays beside it."
          act={revertSettings}
          onDone={() => document.querySelector<HTMLElement>("[data-testid=settings-view]")?.focus()}
        />
      )}
    </div>
  );
}

function OneSetting({ row }: { readonly row: SettingRow }) {
  return (
    <li data-testid="setting" data-source={row.source}>
      <code>{row.path}</code>
      <span dir="auto">{valueText(row.value)}</span>
      <small>
        {sourceText(row)}
        {row.needsRestart ? ", a change needs a restart" : ""}
      </small>
    </li>
  );
}

function sourceText({ source, line, ...row }: SettingRow): string {
  if (source === "default") return "default";
  const other = "byDefault" in row ? `, default: ${valueText(row.byDefault)}` : "";
  return source === "file"
    ? `from the file, line ${line ?? 1}${other}`
    : `from the start: a flag or the environment${other}`;
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "not set");
}

function textOf({ path, value }: SettingRow): string {
  return `${path} ${valueText(value)}`.toLowerCase();
}
