/** Below the last words of a turn: how long it took, what it used, and the way to where the time went. */
import { took } from "../../net/error-text.ts";
import { chat } from "../../state/console-state.ts";
import { turnAddress } from "../../state/route.ts";

export function TurnFooter({ turnId }: { readonly turnId: string | null }) {
  const cost = turnId === null ? undefined : chat.value.turns.get(turnId);
  if (turnId === null || cost === undefined) return null;
  const { ms, usage } = cost;
  const tokens = usage.inputTokens + usage.outputTokens;
  const facts = [
    took(ms),
    ...(tokens > 0 ? [`${tokens.toLocaleString()} tokens`] : []),
    ...(usage.costUsd > 0 ? [`$${usage.costUsd.toFixed(4)}`] : []),
  ];
  return (
    <p class="turn-foot" data-testid="turn-footer">
      <span dir="ltr">
        {facts.join(" · ")} · <a href={turnAddress(turnId)}>Why slow?</a>
      </span>
    </p>
  );
}
