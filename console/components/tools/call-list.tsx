/** The audit log of tool calls, newest first, narrowed by tool, end, conversation and time. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { AuditRow } from "../../../src/contracts/store/tool-calls.ts";
import { ago } from "../../net/error-text.ts";
import { titleOf, waitsForApproval } from "../../state/asking.ts";
import { hashOf, placeOf, turnAddress } from "../../state/route.ts";
import { list } from "../../state/session-list.ts";
import { calls, filter, filterBy, followCalls, moreCalls, readTools, toolNames } from "../../state/tools-state.ts";
import { PagedList } from "../parts/paged-list.tsx";
import { useReading } from "../parts/use-reading.ts";
import { FactList } from "../parts/fact-list.tsx";
import { ToolCard } from "../tool-card.tsx";
import { dateText } from "../../text/dates.ts";

const HOUR_MS = 3_600_000;
const STATUSES = [
  ["success", "Done"],
  ["error", "Failed"],
  ["blocked", "Not allowed"],
  ["pending", "Not ended"],
  ["unknown", "Outcome unknown"],
] as const;
const TIMES = [
  [HOUR_MS, "Last hour"],
  [24 * HOUR_MS, "Last day"],
  [7 * 24 * HOUR_MS, "Last week"],
] as const;

export function CallList() {
  useReading(readTools);
  useEffect(followCalls, []);
  return (
    <>
      <Filters />
      <PagedList
        name="Calls"
        list={calls.value}
        failed="The calls could not be read. Is the gateway connected?"
        empty="No calls match."
        keyOf={({ id }) => String(id)}
        onMore={() => void moreCalls()}
      >
        {(row) => <OneCall row={row} />}
      </PagedList>
    </>
  );
}

function OneCall({ row }: { readonly row: AuditRow }) {
  const call = {
    tool: row.tool,
    // the audit log says alike of both that they have not ended
    status: row.status === "pending" && !waitsForApproval(row) ? ("running" as const) : row.status,
    input: row.input,
    ...(row.asked === undefined ? {} : { asked: row.asked }),
    ...(row.output === null ? {} : { output: row.output }),
    ...(row.executionTimeMs === null ? {} : { ms: row.executionTimeMs }),
  };
  const at = new Date(row.createdAt);
  const time = <time dateTime={at.toISOString()}>{ago(row.createdAt, Date.now())}</time>;
  const more = (
    <FactList
      facts={[
        ["When", dateText(at, "whole")],
        ["For", `${row.userId}, from ${row.origin}`],
        [
          "In",
          row.turnId === null ? "no conversation" : <a href={hashOf(row.sessionKey)}>{titleOf(row.sessionKey)}</a>,
        ],
        ["Turn", row.turnId === null ? null : <a href={turnAddress(row.turnId)}>Where its time went</a>],
      ]}
    />
  );
  return (
    <div data-testid="call">
      <ToolCard call={call} at={time} more={more} />
    </div>
  );
}

function Filters() {
  const { tool, status, session, withinMs } = filter.value;
  return (
    <form class="filters call-filters" onSubmit={(event) => event.preventDefault()}>
      <Choice label="Tool" value={tool} onChoose={(chosen) => filterBy({ tool: chosen })}>
        <option value="">All tools</option>
        {toolNames.value.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <Choice label="How it ended" value={status} onChoose={(chosen) => filterBy({ status: chosen })}>
        <option value="">Any end</option>
        {STATUSES.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </Choice>
      <Choice label="Conversation" value={session} onChoose={(chosen) => filterBy({ session: chosen })}>
        <option value="">All conversations</option>
        {list.value.items.map(({ key, title }) => (
          <option key={key} value={key}>
            {title || placeOf(key)}
          </option>
        ))}
      </Choice>
      <Choice label="When" value={String(withinMs)} onChoose={(chosen) => filterBy({ withinMs: Number(chosen) })}>
        <option value="0">Any time</option>
        {TIMES.map(([ms, words]) => (
          <option key={ms} value={String(ms)}>
            {words}
          </option>
        ))}
      </Choice>
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onChoose: (value: string) => void;
  readonly children: ComponentChildren;
}

function Choice({ label, value, onChoose, children }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
      {children}
    </select>
  );
}
