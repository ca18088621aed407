/** A chart over days: a picture that is read day by day with a pointer or with arrow keys, and a table with the same numbers for everybody. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type Series, type SeriesOfDays, topOf } from "../../text/chart-series.ts";
import { dateText } from "../../text/dates.ts";
import type { Plot } from "./plot.ts";
import { Table } from "./table.tsx";

interface Props extends SeriesOfDays {
  /** What screen readers call it. */
  readonly name: string;
  readonly text: (value: number) => string;
  /** Of the vertical axis, where there is less room. */
  readonly tick: (value: number) => string;
}

export function TimeChart({ name, days, series, text, tick }: Props) {
  const { frame, at, isDrawn, point } = usePlot({ days, series }, tick);
  const shown = at ?? days.length - 1;
  const said = [longDay(days[shown]), ...series.flatMap((one) => saidOf(one, shown, text))].join(", ");
  const onKey = (event: KeyboardEvent) => {
    const next = keyed(event.key, { at, count: days.length, later: isTurned(frame.current) ? -1 : 1 });
    if (next === undefined) return;
    event.preventDefault();
    point(next);
  };
  return (
    <figure class="chart" data-testid="chart" ref={frame}>
      <figcaption data-testid="chart-legend">
        <ul class="chart-legend">
          {series.map((one) => (
            <li key={one.name}>
              <i data-look={one.look} aria-hidden="true" /> {one.name}
              {legendValue(one, { at, top: topOf(series) }, text)}
            </li>
          ))}
        </ul>
        <span>{at === null ? daysText(days) : longDay(days[at])}</span>
      </figcaption>
      {isDrawn && (
        <div
          class="plot"
          dir="ltr"
          role="slider"
          tabindex={0}
          aria-label={`${name}, day`}
          aria-valuemin={0}
          aria-valuemax={days.length - 1}
          aria-valuenow={shown}
          aria-valuetext={said}
          onKeyDown={onKey}
          onBlur={() => point(null)}
        />
      )}
      <details open={!isDrawn}>
        <summary>As a table</summary>
        <Table
          name={name}
          columns={["Day", ...series.map((one) => one.name)]}
          rows={days.map((day, index) => ({ day, index }))}
          keyOf={({ day }) => day}
          cells={({ day, index }) => [day, ...series.map(({ values }) => valueText(values[index], text))]}
        />
      </details>
    </figure>
  );
}

/** Draws into the frame, again when there are other numbers, and follows what is pointed at. */
function usePlot({ days, series }: SeriesOfDays, tick: Props["tick"]) {
  const frame = useRef<HTMLElement>(null);
  const plot = useRef<Plot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const [isDrawn, setDrawn] = useState(true);
  useEffect(() => {
    let isCurrent = true;
    const draw = async () => {
      const { openPlot } = await import("./plot.ts");
      const place = frame.current?.querySelector<HTMLElement>(".plot");
      if (!isCurrent || !place) return;
      const keys = [...(frame.current?.querySelectorAll(".chart-legend i") ?? [])];
      const isRightToLeft = () => isTurned(frame.current);
      plot.current = openPlot(place, { days, series, tick, keys, isRightToLeft, onPoint: setAt });
      if (at !== null && at < days.length) plot.current.point(at);
    };
    draw().catch(() => setDrawn(false)); // the table has the same numbers
    return () => {
      isCurrent = false;
      plot.current?.[Symbol.dispose]();
      plot.current = null;
    };
  }, [JSON.stringify([days, series])]);
  return { frame, at, isDrawn, point: (day: number | null) => plot.current?.point(day) };
}

/** Where days go from right to left. */
function isTurned(frame: HTMLElement | null): boolean {
  return frame !== null && getComputedStyle(frame).direction === "rtl";
}

interface Pointed {
  readonly at: number | null;
  readonly count: number;
  /** Of an arrow to the right: it goes where it points, so that from right to left the left one is the later day. */
  readonly later: 1 | -1;
}

/** Undefined: this key means nothing here. */
function keyed(key: string, { at, count, later }: Pointed): number | null | undefined {
  const steps: Readonly<Record<string, number>> = { ArrowRight: later, ArrowLeft: -later, ArrowUp: 1, ArrowDown: -1 };
  const step = steps[key];
  if (step !== undefined) return at === null ? count - 1 : Math.min(count - 1, Math.max(0, at + step));
  return { Home: 0, End: count - 1, Escape: null }[key];
}

function longDay(day: string | undefined): string {
  return day === undefined ? "" : dateText(Date.parse(day), "longDay");
}

function daysText(days: readonly string[]): string {
  return [...new Set([days[0], days.at(-1)])].map((day) => dateText(Date.parse(day ?? ""), "shortDay")).join(" – ");
}

function saidOf({ name, values }: Series, at: number, text: Props["text"]): readonly string[] {
  const value = values[at];
  return typeof value === "number" ? [`${name} ${text(value)}`] : [];
}

/** Of the day that is pointed at; a limit is the same on all of them, and may be above the picture. */
function legendValue({ look, values }: Series, { at, top }: { at: number | null; top: number }, text: Props["text"]) {
  const value = values[look === "limit" ? 0 : (at ?? -1)];
  if (typeof value !== "number") return null;
  return (
    <b>
      {text(value)}
      {look === "limit" && value > top && " (above the picture)"}
    </b>
  );
}

function valueText(value: number | null | undefined, text: Props["text"]): string {
  return typeof value === "number" ? text(value) : "–";
}
