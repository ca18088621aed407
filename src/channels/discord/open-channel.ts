/** Puts the parts of the Discord channel together: connection, what comes in, what goes out, commands and buttons. Closing is the reverse. */
import { Routes, type APIInteraction, type GatewayDispatchPayload } from "discord-api-types/v10";
import type { OpenChannel, PlatformDeps } from "../../contracts/channels/platform.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import type { PendingApproval } from "../../contracts/tools/approval.ts";
import { accountState, createTasks, remember } from "../kit/index.ts";
import { startIntake } from "./inbound/intake.ts";
import { reactionOf, type ToldReaction } from "./inbound/reactions.ts";
import { createPlaces } from "./inbound/threads.ts";
import { createSeen } from "./inbound/seen.ts";
import { callbackOf } from "./interactions/callback.ts";
import { createInteractions, type Interactions } from "./interactions/interactions.ts";
import { registerMenu } from "./interactions/menu.ts";
import { createQuestionMessages } from "./interactions/question-messages.ts";
import { startQuestions } from "./interactions/questions.ts";
import { createReplays } from "./interactions/replays.ts";
import { discordWebhook } from "./interactions/webhook.ts";
import { startLink } from "./link/link.ts";
import { discordActions } from "./outbound/actions.ts";
import { failureOf } from "./outbound/failure.ts";
import { startPreviews } from "./outbound/preview.ts";
import { openRest, type RestClient } from "./outbound/rest-client.ts";
import { DEDUPE_MS, partMessages, sendPart } from "./outbound/send.ts";
import { ACCOUNT, CHANNEL, type DiscordSettings } from "./settings.ts";

/** Servers, messages and reactions in them and in direct chats, and what they say. */
const INTENTS = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13) | (1 << 15);
const MAX_REMEMBERED = 5_000;
const MIB = 1024 * 1024;

interface Self {
  me: string | null;
  application: string | null;
}

export function openDiscord(platform: PlatformDeps, settings: DiscordSettings): OpenChannel {
  const deps = { ...platform, facts: accountState(platform.facts, CHANNEL, ACCOUNT) };
  const stopping = new AbortController();
  const self: Self = { me: null, application: settings.applicationId ?? null };
  const rest = openRest(settings);
  const { api } = rest;
  const places = createPlaces();
  const previews = startPreviews({ ...deps, api, addressOf: places.address }, settings.streamMode);
  const sessions = rememberSessions(deps);
  const common = { ...deps, door: sessions.door, api, places, previews };
  const intake = startIntake({
    ...common,
    download: rest.download,
    maxFileBytes: settings.mediaMaxMb * MIB,
    seen: createSeen(deps.facts),
    me: () => self.me,
  });
  const interactions = createInteractions({
    ...common,
    replays: createReplays(deps),
    applicationId: () => self.application,
  });
  const questions = startQuestions({ ...deps, api, channelOf: sessions.channelOf });
  const tasks = createTasks((error) => deps.log.warn("work for Discord failed", { kind: failureOf(error).kind }));
  const answer: Receivers["answer"] = (...asked) => void tasks.add(answerOver(rest, ...asked));
  const reacted: Receivers["reacted"] = (told, how) => {
    const reaction = reactionOf(told, how, { me: self.me, places });
    if (reaction) void tasks.add(deps.door.react(reaction));
  };
  const onDispatch = dispatcher({ places, intake, interactions, answer, reacted }, stopping.signal);
  const link = startLink(
    {
      ...deps,
      api,
      renew: rest.renew,
      onReady(data) {
        self.me = data.user.id;
        self.application ??= data.application.id;
        const { application } = self;
        intake.begun();
        if (application !== null) void tasks.add(showMenu({ ...deps, api }, application, stopping.signal));
      },
      onDispatch,
    },
    { token: settings.token, intents: INTENTS },
  );
  const sending = { ...deps, api, previews };
  return {
    ...{ id: CHANNEL, account: ACCOUNT, canRefuse: false },
    repeat: "deduplicated",
    dedupeMs: DEDUPE_MS,
    send: (part, signal) =>
      sendPart(sending, part, { maxMb: settings.mediaMaxMb }, AbortSignal.any([signal, stopping.signal])),
    messages: partMessages(sending, { maxMb: settings.mediaMaxMb }),
    ready: () => link.health().ok,
    health: () => link.health(),
    questions: createQuestionMessages({ ...deps, api }, stopping.signal),
    ...discordActions({ api, me: () => self.me }),
    ...(settings.publicKey === undefined
      ? {}
      : { webhook: discordWebhook({ ...deps, interactions }, settings.publicKey) }),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the channel is closing"));
      for (const part of [link, intake, questions, previews]) await part[Symbol.asyncDispose]();
      await tasks.settled();
      rest[Symbol.dispose]();
    },
  };
}

interface Receivers {
  readonly places: ReturnType<typeof createPlaces>;
  readonly intake: ReturnType<typeof startIntake>;
  readonly interactions: Interactions;
  reacted(told: ToldReaction, how: "add" | "remove"): void;
  answer(interactions: Interactions, interaction: APIInteraction, signal: AbortSignal): void;
}

function dispatcher({ places, intake, interactions, answer, reacted }: Receivers, signal: AbortSignal) {
  return (payload: GatewayDispatchPayload): void => {
    places.learn(payload);
    if (payload.t === "MESSAGE_CREATE") intake.said(payload.d);
    if (payload.t === "MESSAGE_UPDATE") intake.changed(payload.d);
    if (payload.t === "MESSAGE_REACTION_ADD") reacted(payload.d, "add");
    if (payload.t === "MESSAGE_REACTION_REMOVE") reacted(payload.d, "remove");
    if (payload.t === "INTERACTION_CREATE") answer(interactions, payload.d, signal);
  };
}

async function answerOver(
  { api }: RestClient,
  interactions: Interactions,
  interaction: APIInteraction,
  signal: AbortSignal,
): Promise<void> {
  const body = callbackOf(await interactions.handle(interaction, signal));
  if (body === null) return;
  await api.rest.post(Routes.interactionCallback(interaction.id, interaction.token), { auth: false, body, signal });
}

type MenuParts = Parameters<typeof registerMenu>[0] & Pick<PlatformDeps, "log">;

async function showMenu(deps: MenuParts, application: string, signal: AbortSignal): Promise<void> {
  const changed = await registerMenu(deps, application, signal);
  if (changed) deps.log.info("Discord commands registered", { application });
}

/** The door, and which conversation was last held where, so that a question can be shown there. */
function rememberSessions({ door }: Pick<PlatformDeps, "door">) {
  const channels = new Map<SessionKey, string>();
  const remembering: PlatformDeps["door"] = {
    look: (arrival) => door.look(arrival),
    react: (reaction) => door.react(reaction),
    async receive(message, signal) {
      const receipt = await door.receive(message, signal);
      if (receipt.kind !== "refused") {
        const { chat, thread } = message.address;
        remember(channels, receipt.sessionKey, thread ?? chat, MAX_REMEMBERED);
      }
      return receipt;
    },
  };
  const channelOf = ({ origin, sessionKey }: PendingApproval): string | null =>
    origin?.channel === CHANNEL ? (origin.thread ?? origin.chat) : (channels.get(sessionKey) ?? null);
  return { door: remembering, channelOf };
}
