/** A question to owners as a message with buttons, and what a pressed button means. Pure. */
import type { APIMessageTopLevelComponent } from "discord-api-types/v10";
import type { ApprovalDecision, PendingApproval } from "../../../contracts/tools/approval.ts";
import { escapeMarkdown, MAX_MESSAGE_CHARS } from "../text/render.ts";

const PREFIX = "approval";
const MAX_ID_CHARS = 100;
const DECISIONS: readonly ApprovalDecision[] = ["once", "session", "deny"];
const LABELS: Readonly<Record<ApprovalDecision, string>> = {
  once: "Allow once",
  session: "Allow in this session",
  deny: "Deny",
};
const DONE: Readonly<Record<ApprovalDecision, string>> = {
  once: "Allowed once",
  session: "Allowed in this session",
  deny: "Denied",
};
const ROW = 1;
const BUTTON = 2;
const STYLE: Readonly<Record<ApprovalDecision, number>> = { once: 3, session: 2, deny: 4 };
const ROOM_FOR_WORDS = 300;

interface Button {
  readonly approval: string;
  readonly decision: ApprovalDecision;
}

/** Null: not one of ours. */
export function readButton(customId: string): Button | null {
  const [prefix, decision, ...rest] = customId.split(":");
  const known = DECISIONS.find((one) => one === decision);
  const approval = rest.join(":");
  return prefix === PREFIX && known && approval !== "" ? { approval, decision: known } : null;
}

/** What is asked is shown whole or not at all: nobody approves what they cannot read. Null: it is too long for a message. */
export function questionText({ tool, shown }: Pick<PendingApproval, "tool" | "shown">): string | null {
  const safe = shown.replaceAll("`", "\\u0060"); // it would end the block
  if (safe.length > MAX_MESSAGE_CHARS - ROOM_FOR_WORDS) return null;
  return `**${escapeMarkdown(tool)}** wants to run with:\n\`\`\`json\n${safe}\n\`\`\`\nOnly an owner can decide.`;
}

export function tooLongText({ tool }: Pick<PendingApproval, "tool">): string {
  return `**${escapeMarkdown(tool)}** waits for an owner. What it would run with is too long to show here; decide on the gateway's page.`;
}

export function buttonsFor(approval: string): APIMessageTopLevelComponent[] | null {
  const buttons = DECISIONS.map((decision) => ({
    type: BUTTON,
    style: STYLE[decision],
    label: LABELS[decision],
    custom_id: `${PREFIX}:${decision}:${approval}`,
  }));
  if (buttons.some(({ custom_id }) => custom_id.length > MAX_ID_CHARS)) return null;
  return [{ type: ROW, components: buttons }] as APIMessageTopLevelComponent[];
}

export function settledText(decision: ApprovalDecision, by: string): string {
  return `${DONE[decision]} by ${escapeMarkdown(by)}.`;
}
