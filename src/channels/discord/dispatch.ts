/** What Discord tells over its connection → the part that deals with it. */
import {
  type APIInteraction,
  type GatewayDispatchPayload,
  type GatewayTypingStartDispatchData,
  Routes,
} from "discord-api-types/v10";
import type { API } from "@discordjs/core";
import type { MessageIntake } from "../../contracts/channels/platform.ts";
import type { Tasks } from "../kit/index.ts";
import type { Intake } from "./inbound/intake.ts";
import { reactionOf, type ToldReaction } from "./inbound/reactions.ts";
import type { Places } from "./inbound/threads.ts";
import { typingOf } from "./inbound/typing.ts";
import { callbackOf } from "./interactions/callback.ts";
import type { Interactions } from "./interactions/interactions.ts";

interface DispatchDeps {
  readonly api: API;
  readonly door: Pick<MessageIntake, "react" | "typing">;
  readonly places: Places;
  readonly intake: Pick<Intake, "said" | "changed">;
  readonly interactions: Interactions;
  readonly tasks: Tasks;
  /** The bot's own id. */
  me(): string | null;
}

export function createDispatcher(deps: DispatchDeps, signal: AbortSignal): (payload: GatewayDispatchPayload) => void {
  const { door, places, intake, tasks } = deps;
  const reacted = (told: ToldReaction, how: "add" | "remove"): void => {
    const reaction = reactionOf(told, how, { me: deps.me(), places });
    if (reaction) void tasks.add(door.react(reaction));
  };
  const typed = (told: GatewayTypingStartDispatchData): void => {
    const facts = typingOf(told, { me: deps.me(), places });
    if (facts) void tasks.add(door.typing(facts));
  };
  return (payload) => {
    places.learn(payload);
    if (payload.t === "MESSAGE_CREATE") intake.said(payload.d);
    if (payload.t === "MESSAGE_UPDATE") intake.changed(payload.d);
    if (payload.t === "MESSAGE_REACTION_ADD") reacted(payload.d, "add");
    if (payload.t === "MESSAGE_REACTION_REMOVE") reacted(payload.d, "remove");
    if (payload.t === "TYPING_START") typed(payload.d);
    if (payload.t === "INTERACTION_CREATE") void tasks.add(answer(deps, payload.d, signal));
  };
}

async function answer({ api, interactions }: DispatchDeps, asked: APIInteraction, signal: AbortSignal): Promise<void> {
  const body = callbackOf(await interactions.handle(asked, signal));
  if (body === null) return;
  await api.rest.post(Routes.interactionCallback(asked.id, asked.token), { auth: false, body, signal });
}
