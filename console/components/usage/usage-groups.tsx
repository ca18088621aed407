/** What was used, by model, agent, person or origin: the dearest first, each with its share. */
import type { UsageItem, UsageSum } from "../../../src/contracts/store/usage.ts";
import { chooseGroup, type Group, group, groups, moreGroups } from "../../state/usage-state.ts";
import { countText, usdText } from "./usage-text.ts";

const GROUPS: Readonly<Record<Group, string>> = {
  model: "Model",
  agent: "Agent",
  principal: "Person",
  origin: "Origin",
};
const HUNDRED = 100;

export function UsageGroups({ total }: { readonly total: UsageSum }) {
  const { phase, items, next } = groups.value;
  return (
    <section class="part">
      <h2>Who used it</h2>
      <div class="views" role="group" aria-label="Add up by">
        {(Object.keys(GROUPS) as Group[]).map((one) => (
          <button
            key={one}
            type="button"
            class={`quiet small${group.value === one ? " chosen" : ""}`}
            aria-pressed={group.value === one}
            onClick={() => chooseGroup(one)}
          >
            {GROUPS[one]}
          </button>
        ))}
      </div>
      {phase === "failed" && <p class="list-note">This could not be read.</p>}
      {phase === "ready" && items.length === 0 && <p class="about">Nothing was used in these days.</p>}
      {items.length > 0 && (
        <div class="table-scroll" tabindex={0} role="region" aria-label={`By ${GROUPS[group.value].toLowerCase()}`}>
          <table class="table" data-testid="usage-table">
            <thead>
              <tr>
                <th scope="col">{GROUPS[group.value]}</th>
                <th scope="col">Cost</th>
                <th scope="col">Share</th>
                <th scope="col">Tokens</th>
                <th scope="col">Turns</th>
              </tr>
            </thead>
            <tbody>
              {items.map((item) => (
                <Row key={item.key} item={item} total={total} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {next !== null && (
        <button type="button" class="quiet earlier" onClick={() => void moreGroups()}>
          Show more
        </button>
      )}
    </section>
  );
}

/** Of the money where there is any, else of the tokens: models of one's own cost nothing. */
function shareOf(item: UsageItem, total: UsageSum): number {
  const tokens = (sum: UsageSum) => sum.inputTokens + sum.outputTokens;
  const [part, whole] = total.costUsd > 0 ? [item.costUsd, total.costUsd] : [tokens(item), tokens(total)];
  return whole === 0 ? 0 : Math.min(1, part / whole);
}

function Row({ item, total }: { readonly item: UsageItem; readonly total: UsageSum }) {
  const share = Math.round(shareOf(item, total) * HUNDRED);
  return (
    <tr>
      <th scope="row">
        <bdi>{item.key || "not known"}</bdi>
      </th>
      <td>{usdText(item.costUsd)}</td>
      <td>
        <span class="meter" aria-hidden="true">
          <i style={{ width: `${share}%` }} />
        </span>
        {share} %
      </td>
      <td>{countText(item.inputTokens + item.outputTokens)}</td>
      <td>{countText(item.turns)}</td>
    </tr>
  );
}
