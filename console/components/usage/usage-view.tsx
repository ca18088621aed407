/** What models have cost: by day as a picture, by model, agent, person and origin as lists, and how full the budgets are. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { UsageReport } from "../../../src/contracts/http-api.ts";
import { choosePeriod, days, followUsage, period, report } from "../../state/usage-state.ts";
import { type Period, PERIODS } from "../../text/usage-days.ts";
import { BarChart } from "../parts/bar-chart.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { Budgets } from "./budgets.tsx";
import { UsageGroups } from "./usage-groups.tsx";
import { countText, usdText } from "./usage-text.ts";

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

const MEASURES = { costUsd: "Cost", tokens: "Tokens", turns: "Turns" } as const;
type Measure = keyof typeof MEASURES;

function Report({ now }: { readonly now: UsageReport }) {
  const measure = useSignal<Measure>("costUsd");
  const text = measure.value === "costUsd" ? usdText : countText;
  return (
    <>
      <form class="filters usage-filters" onSubmit={(event) => event.preventDefault()} aria-label="What to show">
        <select
          aria-label="Days"
          value={period.value}
          onChange={(event) => choosePeriod(event.currentTarget.value as Period)}
        >
          {Object.entries(PERIODS).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        <select
          aria-label="Measure"
          value={measure.value}
          onChange={(event) => (measure.value = event.currentTarget.value as Measure)}
        >
          {Object.entries(MEASURES).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </form>
      <Totals now={now} />
      <section class="part">
        <h2>
          {MEASURES[measure.value]} by day <small>({now.timezone})</small>
        </h2>
        {now.total.turns === 0 ? (
          <p class="about">Nothing was used in these days.</p>
        ) : (
          <BarChart
            name={`${MEASURES[measure.value]} by day`}
            bars={days.value.map((one) => ({ name: one.day, value: one[measure.value] }))}
            text={text}
          />
        )}
      </section>
      <UsageGroups total={now.total} />
      <Budgets limits={now.limits} />
    </>
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
