/** Every limit that is set: how much of it is spent, and where it will be when it goes on like this. */
import type { LimitState } from "../../../src/contracts/budget.ts";
import { openSetting } from "../../state/palette.ts";
import { elapsedNow } from "../../state/usage-state.ts";
import { type Forecast, forecastOf } from "../../text/usage-days.ts";
import { countText, usdText } from "./usage-text.ts";

const HUNDRED = 100;

export function Budgets({ limits }: { readonly limits: readonly LimitState[] }) {
  const elapsed = elapsedNow();
  return (
    <section class="part">
      <h2>Budgets</h2>
      {limits.length === 0 && (
        <p class="about">
          No limit is set. <code>budget</code> in the configuration sets one by day or month, for all, an agent, an
          origin or a person.{" "}
          <button type="button" class="quiet small edged" onClick={() => void openSetting("budget")}>
            Show the settings
          </button>
        </p>
      )}
      <ul class="tool-list" aria-label="Budgets">
        {limits.map((limit) => (
          <li key={limit.limit}>
            <OneBudget limit={limit} forecast={forecastOf(limit, elapsed)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const STATUSES: Readonly<Record<Forecast["state"], string>> = {
  fine: "success",
  near: "pending",
  over: "error",
  reached: "blocked",
  unknown: "success",
};

function OneBudget({ limit, forecast }: { readonly limit: LimitState; readonly forecast: Forecast }) {
  const { limit: name, unit, spent, max } = limit;
  const text = unit === "usd" ? usdText : countText;
  const share = max === 0 ? 1 : Math.min(1, spent / max);
  return (
    <div class="tool budget" data-testid="budget" data-status={STATUSES[forecast.state]}>
      <p>
        <code>{name}</code>
        <span>
          {text(spent)} of {text(max)}
        </span>
      </p>
      <span class="meter" aria-hidden="true">
        <i style={{ width: `${share * HUNDRED}%` }} />
      </span>
      <p class="about">{sentenceOf(limit, forecast, text)}</p>
    </div>
  );
}

function sentenceOf(
  { period, unattendedMax, max }: LimitState,
  { state, atEnd }: Forecast,
  text: (n: number) => string,
) {
  const end = period === "day" ? "tonight" : "at the end of the month";
  const unattended = unattendedMax < max ? ` Jobs and heartbeats stop at ${text(unattendedMax)}.` : "";
  if (state === "reached") return `It is used up.${unattended}`;
  if (state === "unknown") return `Too early to say where it will be ${end}.${unattended}`;
  const words = { fine: "", near: " That is close to the limit.", over: " That is more than the limit." }[state];
  return `When it goes on like this: ${text(atEnd ?? 0)} ${end}.${words}${unattended}`;
}
