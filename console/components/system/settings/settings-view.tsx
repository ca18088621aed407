/** Settings: as a form made from the schema, or as the text of the file; every change is looked at before it is saved. */
import { useSignal } from "@preact/signals";
import type { SettingsReport } from "../../../../src/contracts/system-api.ts";
import { pendingChange, pendingEdits, readConfigFile, savedSaid } from "../../../state/config-state.ts";
import { status } from "../../../state/console-state.ts";
import { readSettings, revertSettings, settingFilter, settings } from "../../../state/system-state.ts";
import { shownValue } from "../../../text/setting-value.ts";
import { AskFirst } from "../../parts/ask-first.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { useReading } from "../../parts/use-reading.ts";
import { FindField } from "../../parts/find-field.tsx";
import { ViewFrame } from "../../parts/view-frame.tsx";
import { SYSTEM_TABS } from "../system-tabs.ts";
import { ConfigText } from "./config-text.tsx";
import { ReviewChange } from "./review-change.tsx";
import { SettingItem } from "./setting-item.tsx";

const LOOKS = [
  ["form", "Form"],
  ["file", "File"],
] as const;

export function SettingsView() {
  const look = useSignal<"form" | "file">("form");
  useReading(() => {
    void readSettings();
    void readConfigFile();
  }, [status.value?.config]);
  const now = settings.value;
  return (
    <ViewFrame name="System" testId="settings-view" tabs={SYSTEM_TABS}>
      {now === null && <p class="list-note">Reading…</p>}
      {now === "failed" && (
        <EmptyState title="The settings could not be read.">
          <p>Is the gateway connected?</p>
        </EmptyState>
      )}
      {now !== null && now !== "failed" && (
        <section class="part">
          <h2>Settings</h2>
          <FileState now={now} />
          <p class="setup-good" data-testid="saved-said" hidden={savedSaid.value === ""}>
            {savedSaid.value}
          </p>
          <div class="approval-buttons" role="group" aria-label="How settings are shown">
            {LOOKS.map(([name, title]) => (
              <button
                key={name}
                type="button"
                class={look.value === name ? "quiet small edged chosen" : "quiet small edged"}
                aria-pressed={look.value === name}
                onClick={() => (look.value = name)}
              >
                {title}
              </button>
            ))}
          </div>
          {look.value === "form" ? <SettingsForm now={now} /> : <ConfigText />}
        </section>
      )}
    </ViewFrame>
  );
}

function SettingsForm({ now }: { readonly now: SettingsReport }) {
  const { typed, onlySet } = settingFilter.value;
  const words = typed
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const rows = now.rows.filter((row) => {
    const text = `${row.path} ${shownValue(row.value)} ${row.about}`.toLowerCase();
    const isShown = words.length > 0 || !onlySet || row.source !== "default";
    return isShown && words.every((word) => text.includes(word));
  });
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Narrow the settings">
        <select
          aria-label="Which"
          value={onlySet ? "set" : "all"}
          onChange={(event) => (settingFilter.value = { typed, onlySet: event.currentTarget.value === "set" })}
        >
          <option value="set">Those that are set</option>
          <option value="all">All settings</option>
        </select>
        <FindField
          name="Find a setting"
          value={typed}
          onTyped={(text) => (settingFilter.value = { typed: text, onlySet })}
        />
      </form>
      {pendingEdits.value.length > 0 && (
        <ReviewChange
          change={pendingChange()}
          onDone={() => (pendingEdits.value = [])}
          name={pendingEdits.value.length === 1 ? "One change" : `${pendingEdits.value.length} changes`}
        />
      )}
      {rows.length === 0 && (
        <p class="about">{words.length === 0 ? "Nothing is set; every default is in force." : "No setting matches."}</p>
      )}
      <ul class="settings" aria-label="Settings">
        {rows.map((row) => (
          <SettingItem key={row.path} row={row} />
        ))}
      </ul>
    </>
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
