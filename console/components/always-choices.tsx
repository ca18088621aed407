/** How far a yes for always goes: each rule that can be made of an approval, in plain words, and for whom it holds. */
import { useEffect, useRef } from "preact/hooks";
import type { RuleChoice, RuleReach } from "../../src/contracts/tools/approval-rule.ts";
import type { Approval } from "../state/approvals.ts";

interface Props {
  readonly approval: Approval;
  readonly rules: readonly RuleChoice[];
  readonly disabled: boolean;
  readonly onChoose: (reach: RuleReach) => void;
}

export function AlwaysChoices({ approval, rules, disabled, onChoose }: Props) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <div class="always" role="group" aria-label="Always allow">
      <p>
        Allow this, and do not ask again for <b>{approval.principal}</b> with the agent{" "}
        <b>{agentOf(approval.sessionKey)}</b>. The rule ends after 90 days; remove it earlier under Rules in the inbox.
      </p>
      <div class="approval-buttons">
        {rules.map(({ reach, says }, at) => (
          <button
            key={reach}
            ref={at === 0 ? first : null}
            type="button"
            class="quiet edged"
            disabled={disabled}
            onClick={() => onChoose(reach)}
          >
            {capital(says)}
          </button>
        ))}
      </div>
    </div>
  );
}

/** `agent:{id}:…` */
function agentOf(sessionKey: string): string {
  return sessionKey.split(":")[1] ?? "";
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
