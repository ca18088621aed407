/** Approvals on Telegram: the call as a message with a button for each decision. When they are shown, and who decides, is in channels/kit. */
import type { PlainDecision, PendingApproval } from "../../../contracts/tools/approval.ts";
import type { BotApi } from "../api/bot-api.ts";
import { Fault } from "../api/faults.ts";
import type { ApprovalPlatform } from "../../../contracts/channels/channel-kit.ts";
import { POST_AGAIN_MS } from "../../kit/index.ts";
import { sendText } from "../outbound/message-calls.ts";
import type { Run } from "../render/runs.ts";
import { keyboard, postWithButtons, removeButtons } from "./button-messages.ts";

interface Choice {
  readonly decision: PlainDecision;
  readonly label: string;
  readonly said: string;
}

const CHOICES: readonly Choice[] = [
  { decision: "once", label: "Allow once", said: "Allowed once." },
  { decision: "session", label: "Allow in this session", said: "Allowed in this session." },
  { decision: "deny", label: "Deny", said: "Denied." },
];
const DATA = /^q:([A-Za-z0-9_-]{8,40}):([0-9]{1,2})$/;

/** Null: no button of an approval. `choice` is null when there is no such decision. */
export function readApprovalButton(data: string): { readonly approval: string; readonly choice: Choice | null } | null {
  const [, approval, at] = DATA.exec(data) ?? [];
  return approval === undefined ? null : { approval, choice: CHOICES[Number(at)] ?? null };
}

export function approvalPlatform(api: BotApi, channel: string, account: string): ApprovalPlatform {
  return {
    channel,
    account,
    async post(approval, signal) {
      const labels = CHOICES.map(({ label }) => label);
      const markup = keyboard(labels, (at) => `q:${approval.id}:${at}`);
      const runs = approvalText(approval);
      return (await postWithButtons(api, approval.origin, { runs, markup }, signal)).messageId;
    },
    removeButtons: ({ chat }, messageId, signal) => removeButtons(api, chat, messageId, signal),
    async reply(to, messageId, text, signal) {
      await sendText(api, { to, chunk: { text, entities: [] }, replyTo: Number(messageId) }, signal);
    },
    retryAfterMs(error) {
      const info = error instanceof Fault ? error.info : null;
      if (info?.kind === "limited") return info.retryAfterMs;
      return info?.kind === "unreached" || info?.kind === "down" ? POST_AGAIN_MS : null;
    },
  };
}

function approvalText({ tool, shown }: PendingApproval): readonly Run[] {
  return [
    { text: "The assistant asks for permission to use ", styles: [] },
    { text: tool, styles: [{ type: "code" }] },
    { text: " with:\n", styles: [] },
    { text: shown, styles: [{ type: "pre", language: "json" }] },
    { text: "\nOnly an owner can decide.", styles: [] },
  ];
}
