/** Approvals on Discord: the call as a message with a button for each decision. When they are shown, and who decides, is in channels/kit. */
import type { API } from "@discordjs/core";
import type { PlainDecision, PendingApproval } from "../../../contracts/tools/approval.ts";
import type { ApprovalPlatform } from "../../../contracts/channels/channel-kit.ts";
import { POST_AGAIN_MS } from "../../kit/index.ts";
import { failureOf } from "../outbound/failure.ts";
import { channelOf, replyField } from "../outbound/send.ts";
import { ACCOUNT, CHANNEL } from "../settings.ts";
import { escapeMarkdown, MAX_MESSAGE_CHARS } from "../text/render.ts";
import { GREEN, GREY, postWithButtons, RED } from "./button-messages.ts";

const PREFIX = "approval";
const CHOICES: readonly {
  readonly decision: PlainDecision;
  readonly label: string;
  readonly done: string;
  readonly style: number;
}[] = [
  { decision: "once", label: "Allow once", done: "Allowed once", style: GREEN },
  { decision: "session", label: "Allow in this session", done: "Allowed in this session", style: GREY },
  { decision: "deny", label: "Deny", done: "Denied", style: RED },
];
const ROOM_FOR_WORDS = 300;

/** Null: no button of an approval. */
export function readApprovalButton(
  customId: string,
): { readonly approval: string; readonly decision: PlainDecision } | null {
  const [prefix, name, ...rest] = customId.split(":");
  const choice = CHOICES.find(({ decision }) => decision === name);
  const approval = rest.join(":");
  return prefix === PREFIX && choice && approval !== "" ? { approval, decision: choice.decision } : null;
}

export function decidedText(decision: PlainDecision, by: string): string {
  const choice = CHOICES.find((one) => one.decision === decision);
  return `${choice?.done} by ${escapeMarkdown(by)}.`;
}

/** The call is shown whole or not at all: nobody approves what they cannot read. Null: it is too long for a message. */
export function approvalText({ tool, shown }: Pick<PendingApproval, "tool" | "shown">): string | null {
  const safe = shown.replaceAll("`", "\\u0060"); // it would end the block
  if (safe.length > MAX_MESSAGE_CHARS - ROOM_FOR_WORDS) return null;
  return `**${escapeMarkdown(tool)}** wants to run with:\n\`\`\`json\n${safe}\n\`\`\`\nOnly an owner can decide.`;
}

function tooLongText({ tool }: PendingApproval): string {
  return `**${escapeMarkdown(tool)}** waits for an owner. What it would run with is too long to show here; decide in the web console.`;
}

export function approvalPlatform(api: API): ApprovalPlatform {
  return {
    channel: CHANNEL,
    account: ACCOUNT,
    post(approval, signal) {
      const { id, origin } = approval;
      const text = approvalText(approval);
      const buttons = CHOICES.map(({ decision, ...look }) => ({ ...look, customId: `${PREFIX}:${decision}:${id}` }));
      const message = { id, pieces: [text ?? tooLongText(approval)], buttons: text === null ? [] : buttons };
      return postWithButtons(api, origin, message, signal);
    },
    async removeButtons(to, messageId, signal) {
      await api.channels.editMessage(channelOf(to), messageId, { components: [] }, { signal });
    },
    async reply(to, messageId, content, signal) {
      await api.channels.createMessage(channelOf(to), { content, ...replyField(messageId) }, { signal });
    },
    retryAfterMs(error) {
      const failure = failureOf(error);
      if (failure.kind === "limited") return failure.retryAfterMs;
      return failure.kind === "refused" ? null : POST_AGAIN_MS; // the nonce keeps one that arrived from being shown twice
    },
  };
}
