/** A press of a button on Telegram: an approval is decided, or a question answered, and the person sees a short sentence. */
import type { PlatformDeps } from "../../../contracts/channels/platform.ts";
import type { Role } from "../../../contracts/ids.ts";
import type { BotApi } from "../api/bot-api.ts";
import type { ApprovalMessages } from "../../../contracts/channels/channel-kit.ts";
import { readApprovalButton } from "./approvals.ts";
import type { Arrived } from "./arrived.ts";
import { removeButtons } from "./button-messages.ts";
import { readQuestionButton } from "./question-messages.ts";

interface PressDeps {
  readonly api: BotApi;
  readonly approvals: Pick<ApprovalMessages, "decide">;
  readonly questions: PlatformDeps["questions"];
}

interface Outcome {
  readonly say: string;
  /** The buttons should not be there any more. */
  readonly over: boolean;
}

const ONLY_OWNERS = "Only an owner can decide this.";
const OVER = "This question is no longer open.";
const MAX_TOAST_CHARS = 200;

export async function takePress(deps: PressDeps, arrived: Arrived, role: Role, signal: AbortSignal): Promise<void> {
  const { press, address, messageId } = arrived;
  if (!press) return;
  const { say, over } = (await answerQuestion(deps, arrived, role)) ?? (await decideApproval(deps, arrived, role));
  await deps.api
    .call("answerCallbackQuery", { callback_query_id: press.callbackId, text: say.slice(0, MAX_TOAST_CHARS) }, signal)
    .catch(() => undefined); // it is too late to say it; what was decided holds
  if (over) await removeButtons(deps.api, address.chat, String(messageId), signal);
}

async function answerQuestion(
  { questions }: PressDeps,
  { press, sender, address }: Arrived,
  role: Role,
): Promise<Outcome | null> {
  const button = readQuestionButton(press?.data ?? "");
  if (!button) return null;
  const by = { principal: sender.principal, role, at: address };
  const verdict = await questions.answerAnywhere(button.id, { kind: "press", at: button.at }, by);
  return { say: verdict.say, over: verdict.kind === "refused" && verdict.because === "over" };
}

async function decideApproval({ approvals }: PressDeps, arrived: Arrived, role: Role): Promise<Outcome> {
  const button = readApprovalButton(arrived.press?.data ?? "");
  if (!button?.choice) return { say: OVER, over: false };
  const { approval, choice } = button;
  const messageId = String(arrived.messageId);
  const outcome = await approvals.decide({ approval, decision: choice.decision, messageId, by: arrived, role });
  if (outcome === "not_allowed") return { say: ONLY_OWNERS, over: false };
  return { say: outcome === "decided" ? choice.said : OVER, over: true };
}
