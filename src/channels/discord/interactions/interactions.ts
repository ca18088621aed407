/**
 * Slash commands and buttons, over the connection or the webhook. A command is a message; a button answers a question or decides an approval.
 * Both pass the access check as the person who used them, and each counts once.
 */
import type { APIInteraction } from "discord-api-types/v10";
import type { InboundMessage } from "../../../contracts/chat.ts";
import type { PlatformDeps } from "../../../contracts/channels/platform.ts";
import type { Role } from "../../../contracts/ids.ts";
import type { Places } from "../inbound/threads.ts";
import { fingerprintOf, senderOf } from "../inbound/translate.ts";
import type { ApprovalMessages } from "../../../contracts/channels/channel-kit.ts";
import type { Previews } from "../../kit/index.ts";
import { decidedText, readApprovalButton } from "./approvals.ts";
import { ARGUMENT } from "./menu.ts";
import { readQuestionButton } from "./question-messages.ts";
import type { Replays } from "./replays.ts";

export interface InteractionDeps extends Pick<PlatformDeps, "clock" | "door" | "questions"> {
  readonly approvals: Pick<ApprovalMessages, "decide">;
  readonly places: Places;
  readonly replays: Replays;
  readonly previews: Pick<Previews, "expect">;
  /** Interactions of another application are nobody's business here; null: not known yet. */
  applicationId(): string | null;
}

/** What Discord is answered. `nothing`: as if nobody were there. */
export type InteractionAnswer =
  | { readonly kind: "nothing" }
  | { readonly kind: "pong" }
  /** Only whoever used it sees this. */
  | { readonly kind: "whisper"; readonly text: string }
  /** The message the button is under says this from now on, without buttons. */
  | { readonly kind: "replace"; readonly text: string }
  /** It counts; what is shown changes by itself. */
  | { readonly kind: "noted" }
  | { readonly kind: "busy" };

export interface Interactions {
  handle(interaction: APIInteraction, signal: AbortSignal): Promise<InteractionAnswer>;
}

const TYPE = { ping: 1, command: 2, component: 3 } as const;
const CHAT_INPUT = 1;
const ONLY_OWNERS = "Only an owner can decide that.";
const OVER = "This question is not open any more: it was answered, or it waited too long.";
const NOTHING: InteractionAnswer = { kind: "nothing" };

export function createInteractions(deps: InteractionDeps): Interactions {
  return {
    async handle(interaction, signal) {
      if (interaction.type === TYPE.ping) return { kind: "pong" };
      const application = deps.applicationId();
      if (application !== null && interaction.application_id !== application) return NOTHING;
      const from = sourceOf(deps, interaction);
      if (!from) return NOTHING;
      const isPress = interaction.type === TYPE.component;
      if (!isPress && interaction.type !== TYPE.command) return NOTHING;
      const seen = await deps.door.look({ ...from, kind: isPress ? "action" : "message" });
      if (seen.kind === "stay") return seen.say === null ? NOTHING : { kind: "whisper", text: seen.say };
      const taken = await deps.replays.take(interaction.id); // after the access check: a stranger leaves no trace
      if (taken !== "first") return taken === "full" ? { kind: "busy" } : NOTHING;
      if (isPress) return press(deps, { interaction, from }, seen.role);
      return command(deps, { interaction, from }, signal);
    },
  };
}

type Source = Pick<InboundMessage, "address" | "scope" | "place" | "sender" | "mentioned">;

/** Null: it does not say who, or where. */
function sourceOf({ places }: InteractionDeps, interaction: APIInteraction): Source | null {
  const user = interaction.member?.user ?? interaction.user;
  const channel = interaction.channel?.id;
  if (!user || user.bot || !channel) return null;
  const guild = interaction.guild_id;
  const about = { address: places.address(channel), sender: senderOf(user), mentioned: true };
  return guild === undefined ? { ...about, scope: "dm" } : { ...about, scope: "group", place: guild };
}

interface Used<I> {
  readonly interaction: I;
  readonly from: Source;
}

async function command(
  deps: InteractionDeps,
  { interaction, from }: Used<APIInteraction>,
  signal: AbortSignal,
): Promise<InteractionAnswer> {
  const text = commandText(interaction);
  if (text === null) return NOTHING;
  const message: InboundMessage = {
    ...from,
    eventId: interaction.id,
    fingerprint: fingerprintOf(text, []),
    text,
    quoted: [],
    attachments: [],
    receivedAt: deps.clock.now(),
  };
  const receipt = await deps.door.receive(message, signal);
  if (receipt.kind === "refused") return receipt.say === "" ? NOTHING : { kind: "whisper", text: receipt.say };
  if (receipt.kind === "queued") deps.previews.expect(receipt.id, { to: from.address, replyTo: null });
  return { kind: "whisper", text: "Got it." };
}

function commandText(interaction: APIInteraction): string | null {
  if (interaction.type !== TYPE.command || interaction.data.type !== CHAT_INPUT) return null;
  const { name, options = [] } = interaction.data;
  const argument = options.find((option) => option.name === ARGUMENT);
  const words = argument && "value" in argument ? String(argument.value).trim() : "";
  return words === "" ? `/${name}` : `/${name} ${words}`;
}

async function press(
  { approvals, questions }: InteractionDeps,
  { interaction, from }: Used<APIInteraction>,
  role: Role,
): Promise<InteractionAnswer> {
  if (interaction.type !== TYPE.component) return NOTHING;
  const { data, message } = interaction;
  const { sender, address } = from;
  const question = readQuestionButton(data.custom_id);
  if (question) {
    const by = { principal: sender.principal, role, at: address };
    const verdict = await questions.answerAnywhere(question.id, { kind: "press", at: question.at }, by);
    if (verdict.kind === "taken") return { kind: "noted" };
    return { kind: verdict.because === "over" ? "replace" : "whisper", text: verdict.say };
  }
  const button = readApprovalButton(data.custom_id);
  if (!button) return NOTHING;
  const outcome = await approvals.decide({ ...button, messageId: message.id, by: from, role });
  if (outcome === "not_allowed") return { kind: "whisper", text: ONLY_OWNERS };
  return { kind: "replace", text: outcome === "over" ? OVER : decidedText(button.decision, sender.name) };
}
