/** What was used, by model, agent, person or origin: the dearest first, each with its share. */
import type { UsageItem, UsageSum } from "../../../src/contracts/store/usage.ts";
import { chooseGroup, type Group, group, groups, moreGroups } from "../../state/usage-state.ts";
import { Table } from "../parts/table.tsx";
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
        <Table
          name={`By ${GROUPS[group.value].toLowerCase()}`}
          testId="usage-table"
          columns={[GROUPS[group.value], "Cost", "Share", "Tokens", "Turns"]}
          rows={items}
          keyOf={({ key }) => key}
          cells={(item) => [
            item.key || "not known",
            usdText(item.costUsd),
            <Share share={shareOf(item, total)} />,
            countText(item.inputTokens + item.outputTokens),
            countText(item.turns),
          ]}
        />
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

function Share({ share }: { readonly share: number }) {
  const percent = Math.round(share * HUNDRED);
  return (
    <span class="share">
      <span class="meter" aria-hidden="true">
        <i style={{ width: `${percent}%` }} />
      </span>
      {percent} %
    </span>
  );
}
