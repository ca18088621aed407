/** Planned runs on a calendar: a month as a grid, and as a list of days where there is little room. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { CalendarRun, JobCalendar } from "../../../src/contracts/automation/jobs.ts";
import { calendar, readCalendar } from "../../state/automations-state.ts";
import { line } from "../../state/console-state.ts";
import { jobNews } from "../../state/news.ts";
import { openJobs } from "../../state/palette.ts";
import { minute } from "../../state/screen.ts";
import { localDate, type Month, type MonthDay, monthOf, shifted, shownDays, weeksOf } from "../../text/month.ts";
import { Icon } from "../icons.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { AUTOMATION_TABS } from "./automation-tabs.ts";
import { dateText } from "../../text/dates.ts";

const MAX_SHOWN = 3;
/** Any Monday. */
const MONDAY = Date.UTC(2026, 10, 16);
const DAY_MS = 86_400_000;

export function CalendarView() {
  const shown = useSignal<Month>(monthOf(new Date()));
  const { year, month } = shown.value;
  useEffect(() => void readCalendar(shownDays(shown.value)), [year, month, line.value, jobNews.value]);
  const now = calendar.value;
  const read = now === "failed" ? null : now;
  return (
    <ViewFrame name="Automations" testId="calendar-view" tabs={AUTOMATION_TABS}>
      <MonthChooser shown={shown.value} choose={(next) => (shown.value = next)} />
      {now === "failed" && <p class="list-note">The calendar could not be read. It comes back with the connection.</p>}
      <Grid shown={shown.value} read={read} />
      <DayList shown={shown.value} read={read} />
      {read && <Notes read={read} />}
    </ViewFrame>
  );
}

function MonthChooser({ shown, choose }: { readonly shown: Month; readonly choose: (month: Month) => void }) {
  const current = monthOf(new Date(minute.value));
  const isCurrent = current.year === shown.year && current.month === shown.month;
  return (
    <div class="month-chooser">
      <h2 aria-live="polite">{monthName(shown)}</h2>
      <div class="month-buttons" role="group" aria-label="Month">
        <button type="button" class="quiet small edged" disabled={isCurrent} onClick={() => choose(current)}>
          This month
        </button>
        <button
          type="button"
          class="icon-button month-before"
          aria-label="Month before"
          disabled={isCurrent}
          onClick={() => choose(shifted(shown, -1))}
        >
          <Icon name="chevron" size={18} />
        </button>
        <button type="button" class="icon-button" aria-label="Next month" onClick={() => choose(shifted(shown, 1))}>
          <Icon name="chevron" size={18} />
        </button>
      </div>
    </div>
  );
}

interface MonthProps {
  readonly shown: Month;
  readonly read: JobCalendar | null;
}

function Grid({ shown, read }: MonthProps) {
  const today = localDate(new Date(minute.value));
  return (
    <table class="calendar" data-testid="calendar" aria-busy={read === null}>
      <caption class="hidden">Planned runs, {monthName(shown)}</caption>
      <thead>
        <tr>
          {Array.from({ length: 7 }, (_, day) => (
            <th key={day} scope="col" abbr={dayName(day, "long")}>
              {dayName(day, "short")}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeksOf(shown, read).map((week) => (
          <tr key={week[0]?.date}>
            {week.map((day) => (
              <td
                key={day.date}
                class={day.isInMonth ? "" : "other-month"}
                aria-current={day.date === today ? "date" : undefined}
              >
                <time dateTime={day.date}>{day.day}</time>
                <Runs day={day} max={MAX_SHOWN} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** For a narrow screen: only the days on which something is planned. */
function DayList({ shown, read }: MonthProps) {
  const days = weeksOf(shown, read)
    .flat()
    .filter(({ isInMonth, runs }) => isInMonth && runs.length > 0);
  return (
    <ul class="calendar-days" aria-label={`Planned runs, ${monthName(shown)}`} data-testid="calendar-days">
      {read !== null && days.length === 0 && <li class="faint">Nothing is planned in this month.</li>}
      {days.map((day) => (
        <li key={day.date}>
          <h3>{dayTitle(day.date)}</h3>
          <Runs day={day} max={Infinity} />
        </li>
      ))}
    </ul>
  );
}

function Runs({ day, max }: { readonly day: MonthDay; readonly max: number }) {
  const all = useSignal(false);
  const shown = all.value ? day.runs : day.runs.slice(0, max);
  const rest = day.runs.length - shown.length;
  if (day.runs.length === 0) return null;
  return (
    <ul class="calendar-runs" aria-label={dayTitle(day.date)}>
      {shown.map((run) => (
        <li key={`${run.jobId} ${run.at}`}>
          <RunButton run={run} />
        </li>
      ))}
      {rest > 0 && (
        <li>
          <button type="button" class="calendar-run more" onClick={() => (all.value = true)}>
            {rest} more
          </button>
        </li>
      )}
    </ul>
  );
}

function RunButton({ run: { jobId, at } }: { readonly run: CalendarRun }) {
  const time = dateText(at, "time");
  return (
    <button type="button" class="calendar-run" title={jobId} onClick={() => void openJobs(jobId)}>
      <time dateTime={new Date(at).toISOString()}>{time}</time> {jobId}
    </button>
  );
}

function Notes({ read: { frequent, isPartial } }: { readonly read: JobCalendar }) {
  return (
    <>
      {frequent.length > 0 && (
        <p class="about" data-testid="frequent">
          Too often for a calendar:{" "}
          {frequent.map((id) => (
            <button key={id} type="button" class="quiet small edged" onClick={() => void openJobs(id)}>
              {id}
            </button>
          ))}
        </p>
      )}
      {isPartial && <p class="about">There are more jobs than fit here. The list has all of them.</p>}
    </>
  );
}

function monthName({ year, month }: Month): string {
  return dateText(new Date(year, month - 1, 1), "month");
}

function dayName(day: number, length: "long" | "short"): string {
  return dateText(MONDAY + day * DAY_MS, length === "long" ? "longWeekday" : "weekday");
}

function dayTitle(date: string): string {
  return dateText(new Date(date), "longDay");
}
