/** Approval rules, below what waits: what each allows, for whom, since when and when it was used last. Removing asks first. */
import { useEffect, useRef } from "preact/hooks";
import type { ApprovalRule } from "../../../src/contracts/tools/approval-rule.ts";
import { ago } from "../../net/error-text.ts";
import { followRules, forgetRule, moreRules, rules } from "../../state/rules-state.ts";
import { minute } from "../../state/screen.ts";
import { callText } from "../../text/call-text.ts";
import { until } from "../../text/schedule.ts";
import { CallPicture } from "../call-picture.tsx";
import { Icon } from "../icons.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { PagedList } from "../parts/paged-list.tsx";

export function Rules() {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(followRules, []);
  return (
    <section class="part inbox-rules" aria-labelledby="inbox-rules" data-testid="rules">
      <h2 id="inbox-rules" ref={title} tabindex={-1}>
        Rules
      </h2>
      <p class="about">Calls that run without asking, because you answered an approval with “Always”.</p>
      <PagedList
        name="Rules"
        list={rules.value}
        failed="The rules could not be read. Reload to try again."
        empty="There are no rules."
        keyOf={({ id }) => id}
        onMore={() => void moreRules()}
      >
        {(rule) => <Rule rule={rule} onRemoved={() => title.current?.focus()} />}
      </PagedList>
    </section>
  );
}

function Rule({ rule, onRemoved }: { readonly rule: ApprovalRule; readonly onRemoved: () => void }) {
  const { tool, says, principal, agentId, reach, shown, madeBy, madeAt, expiresAt } = rule;
  const now = minute.value;
  return (
    <div class="tool key" data-testid="rule" data-status="planned">
      <div class="key-line">
        <span class="tool-status">
          <Icon name="check" size={16} />
        </span>
        <span class="job-words">
          <span class="job-first">
            <strong class="key-name" dir="auto">
              {says}
            </strong>
          </span>
          <span class="job-second">
            for {principal} with the agent {agentId} · made by {madeBy} {since(madeAt, now)}
          </span>
          <span class="job-second">
            {usedText(rule, now)} · ends {until(expiresAt, now)}
          </span>
        </span>
        <AskFirst
          verb="Remove"
          to={`the rule: ${says}`}
          question="Remove it? Calls like that ask again."
          act={() => forgetRule(rule)}
          onDone={onRemoved}
        />
      </div>
      {reach === "call" && (
        <div class="rule-call">
          <CallPicture call={callText(tool, shown)} />
        </div>
      )}
    </div>
  );
}

function usedText({ uses, lastUsedAt }: ApprovalRule, now: number): string {
  if (lastUsedAt === null) return "never used";
  return `used ${uses === 1 ? "once" : `${uses} times`}, last ${since(lastUsedAt, now)}`;
}

function since(at: number, now: number): string {
  const passed = ago(at, now);
  return passed === "now" ? "just now" : /\d$/.test(passed) ? `on ${passed}` : `${passed} ago`;
}
