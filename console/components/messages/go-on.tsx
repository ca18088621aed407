/** Going on from a reply in another way: written anew, or in a conversation of its own. */
import type { TranscriptItem } from "../../../src/contracts/chat.ts";
import { chat, openKey, turnRuns } from "../../state/console-state.ts";
import { branchAt, resend } from "../../state/message-actions.ts";
import { readOnlyBecause } from "../../state/route.ts";
import { Icon } from "../icons.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

/** Somebody asked, and can ask again here. Commands are answered by the gateway, which would only say the same. */
export function canSendAgain(turnId: TranscriptItem["turnId"]): boolean {
  if (turnId === null || readOnlyBecause(openKey.value) !== null) return false;
  const asked = chat.value.items.filter((one) => one.turnId === turnId && one.role === "user");
  return asked.some(({ origin, text }) => origin === undefined && !text.startsWith("/"));
}

export function GoOn({ item }: { readonly item: TranscriptItem }) {
  const { busy, problem, run } = useAction();
  if (item.extra || !canSendAgain(item.turnId)) return null;
  return (
    <>
      <button
        type="button"
        class="quiet small"
        data-testid="regenerate"
        aria-label="Write the answer anew"
        title="Regenerate: what came after is replaced"
        disabled={busy || turnRuns.value}
        onClick={() => void run(() => resend(item.id))}
      >
        <Icon name="retry" size={16} />
      </button>
      <button
        type="button"
        class="quiet small"
        data-testid="branch"
        aria-label="Go on from here in a new conversation"
        title="Branch: a new conversation with everything up to here"
        disabled={busy}
        onClick={() => void run(() => branchAt(item.id))}
      >
        <Icon name="branch" size={16} />
      </button>
      <Problem text={problem} />
    </>
  );
}
