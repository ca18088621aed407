/** What models have cost: by day as a picture, by model, agent, person and origin as lists, and how full the budgets are. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { UsageReport } from "../../../src/contracts/http-api.ts";
import { choosePeriod, days, elapsedNow, followUsage, period, report } from "../../state/usage-state.ts";
import { PERIODS } from "../../text/usage-days.ts";
import { type Measure, seriesOf, type Shape, SHAPES } from "../../text/usage-series.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { TimeChart } from "../parts/time-chart.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { Budgets } from "./budgets.tsx";
import { UsageGroups } from "./usage-groups.tsx";
import { countText, countTick, usdText, usdTick } from "./usage-text.ts";

export function UsageView() {
  useEffect(followUsage, []);
  const now = report.value;
  return (
    <ViewFrame name="Usage" testId="usage-view">
      {now === null && <p class="list-note">Reading…</p>}
      {now === "failed" && (
        <EmptyState title="The usage ledger could not be read.">
          <p>Is the gateway connected?</p>
        </EmptyState>
      )}
      {now !== null && now !== "failed" && <Report now={now} />}
    </ViewFrame>
  );
}

const MEASURES: Readonly<Record<Measure, string>> = { costUsd: "Cost", tokens: "Tokens", turns: "Turns" };
const HEADINGS: Readonly<Record<Shape, string>> = { daily: "by day", sum: "added up" };

function Report({ now }: { readonly now: UsageReport }) {
  const measure = useSignal<Measure>("costUsd");
  const shape = useSignal<Shape>("daily");
  return (
    <>
      <form class="filters usage-filters" onSubmit={(event) => event.preventDefault()} aria-label="What to show">
        <Choice name="Days" choices={PERIODS} value={period.value} choose={choosePeriod} />
        <Choice name="Measure" choices={MEASURES} value={measure.value} choose={(value) => (measure.value = value)} />
        <Choice name="Shape" choices={SHAPES} value={shape.value} choose={(value) => (shape.value = value)} />
      </form>
      <Totals now={now} />
      <section class="part">
        <h2>
          {MEASURES[measure.value]} {HEADINGS[shape.value]} <small>({now.timezone})</small>
        </h2>
        {now.total.turns === 0 ? (
          <p class="about">Nothing was used in these days.</p>
        ) : (
          <UsageChart now={now} measure={measure.value} shape={shape.value} />
        )}
      </section>
      <UsageGroups total={now.total} />
      <Budgets limits={now.limits} />
    </>
  );
}

interface ChoiceProps<T extends string> {
  readonly name: string;
  readonly choices: Readonly<Record<T, string>>;
  readonly value: T;
  readonly choose: (value: T) => void;
}

function Choice<T extends string>({ name, choices, value, choose }: ChoiceProps<T>) {
  return (
    <select aria-label={name} value={value} onChange={(event) => choose(event.currentTarget.value as T)}>
      {Object.entries<string>(choices).map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  );
}

interface ChartProps {
  readonly now: UsageReport;
  readonly measure: Measure;
  readonly shape: Shape;
}

function UsageChart({ now, measure, shape }: ChartProps) {
  const isMoney = measure === "costUsd";
  const elapsed = period.value === "month" ? elapsedNow() : null;
  const name = MEASURES[measure];
  return (
    <TimeChart
      name={`${name} ${HEADINGS[shape]}`}
      {...seriesOf(days.value, { measure, name, shape, limits: now.limits, elapsed })}
      text={isMoney ? usdText : countText}
      tick={isMoney ? usdTick : countTick}
    />
  );
}

function Totals({ now: { total } }: { readonly now: UsageReport }) {
  const facts: readonly (readonly [string, string])[] = [
    ["Cost", usdText(total.costUsd)],
    ["Tokens in", countText(total.inputTokens)],
    ["of them cached", countText(total.cachedTokens)],
    ["Tokens out", countText(total.outputTokens)],
    ["Turns", countText(total.turns)],
  ];
  return (
    <dl class="totals" data-testid="totals">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
