/** The timeline of everything that happened, newest first, with filters; it goes on while somebody looks. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { ActivityKind, ActivityOutcome } from "../../../src/contracts/store/activity.ts";
import {
  activity,
  type ActivityChoice,
  choice,
  choose,
  chooseAll,
  followActivity,
  moreActivity,
  searchedTo,
} from "../../state/activity-state.ts";
import { status } from "../../state/console-state.ts";
import { PagedList } from "../parts/paged-list.tsx";
import { FindField } from "../parts/find-field.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { ACTIVITY_TABS } from "./activity-tabs.ts";
import { AuditLine } from "./audit-line.tsx";
import { ActivityRow, KIND_WORDS } from "./activity-row.tsx";
import { dateText } from "../../text/dates.ts";

const OUTCOME_WORDS: Readonly<Record<ActivityOutcome, string>> = {
  ok: "Went well",
  failed: "Failed",
  stopped: "Stopped or not allowed",
  running: "Running",
  unknown: "Outcome unknown",
};

export function ActivityView() {
  useEffect(followActivity, []);
  return (
    <ViewFrame name="Activity" testId="activity-view" tabs={ACTIVITY_TABS}>
      <h2 class="hidden">Timeline</h2>
      <AuditLine />
      <Filters />
      <PagedList
        name="Timeline"
        list={activity.value}
        failed="The timeline could not be read. Is the gateway connected?"
        empty={isNarrowed(choice.value) ? "Nothing matches." : "Nothing has happened yet."}
        keyOf={({ kind, id }) => `${kind} ${id}`}
        onMore={() => void moreActivity()}
      >
        {(entry) => <ActivityRow entry={entry} />}
      </PagedList>
      {searchedTo.value !== null && activity.value.next !== null && (
        <p class="list-note">Searched back to {dateText(searchedTo.value, "whole")}.</p>
      )}
    </ViewFrame>
  );
}

function isNarrowed(chosen: ActivityChoice): boolean {
  return Object.values(chosen).some((value) => value !== "");
}

function Filters() {
  const chosen = choice.value;
  return (
    <form
      class="filters activity-filters"
      onSubmit={(event) => event.preventDefault()}
      aria-label="Narrow the timeline"
    >
      <FindField
        name="Find in the timeline"
        placeholder="Find words, tools, models, jobs"
        value={chosen.text}
        onTyped={(text) => choose("text", text)}
      />
      <Choice label="Kind" field="kind" any="Everything">
        {(Object.keys(KIND_WORDS) as ActivityKind[]).map((kind) => (
          <option key={kind} value={kind}>
            {KIND_WORDS[kind]}s
          </option>
        ))}
      </Choice>
      <Choice label="How it ended" field="outcome" any="Any end">
        {(Object.keys(OUTCOME_WORDS) as ActivityOutcome[]).map((outcome) => (
          <option key={outcome} value={outcome}>
            {OUTCOME_WORDS[outcome]}
          </option>
        ))}
      </Choice>
      <Choice label="Channel" field="channel" any="Any channel">
        {namesOf("channel").map(toOption)}
      </Choice>
      <Choice label="Agent" field="agent" any="Any agent">
        {namesOf("agentId").map(toOption)}
      </Choice>
      <Choice label="Person" field="person" any="Anybody">
        {namesOf("person").map(toOption)}
      </Choice>
      {isNarrowed(chosen) && (
        <button type="button" class="quiet small" onClick={() => chooseAll()}>
          Show all
        </button>
      )}
    </form>
  );
}

const toOption = (name: string) => <option key={name}>{name}</option>;

/** Those that were seen since the view was opened, and what is chosen: a name must not disappear while it is used. */
const seen = { channel: new Set<string>(), agentId: new Set<string>(), person: new Set<string>() };

function namesOf(field: keyof typeof seen): readonly string[] {
  const known = seen[field];
  for (const entry of activity.value.items) if (entry[field] !== null) known.add(entry[field]);
  if (field === "channel") for (const { id } of status.value?.channels ?? []) known.add(id.split("/")[0] ?? id);
  return [...known].toSorted();
}

interface ChoiceProps {
  readonly label: string;
  readonly field: keyof ActivityChoice;
  /** Without a choice. */
  readonly any: string;
  readonly children: ComponentChildren;
}

function Choice({ label, field, any, children }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={choice.value[field]}
      onChange={(event) => choose(field, event.currentTarget.value)}
    >
      <option value="">{any}</option>
      {children}
    </select>
  );
}
