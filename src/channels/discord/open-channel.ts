/** Puts the parts of the Discord channel together: connection, what comes in, what goes out, commands and buttons. Closing is the reverse. */
import type { OpenChannel, PlatformDeps } from "../../contracts/channels/platform.ts";
import { accountState, createPartSender, createTasks, startApprovalMessages, startPreviews } from "../kit/index.ts";
import { createDispatcher } from "./dispatch.ts";
import { startIntake } from "./inbound/intake.ts";
import { createSeen } from "./inbound/seen.ts";
import { createPlaces } from "./inbound/threads.ts";
import { approvalPlatform } from "./interactions/approvals.ts";
import { createInteractions } from "./interactions/interactions.ts";
import { registerMenu } from "./interactions/menu.ts";
import { createQuestionMessages } from "./interactions/question-messages.ts";
import { createReplays } from "./interactions/replays.ts";
import { discordWebhook } from "./interactions/webhook.ts";
import { startLink } from "./link/link.ts";
import { discordActions } from "./outbound/actions.ts";
import { failureOf } from "./outbound/failure.ts";
import { discordPreviews } from "./outbound/previews.ts";
import { openRest } from "./outbound/rest-client.ts";
import { DEDUPE_MS, discordParts } from "./outbound/send.ts";
import { ACCOUNT, CHANNEL, type DiscordSettings } from "./settings.ts";

/** Servers; messages, reactions and typing in them and in direct chats; what messages say, which alone has to be allowed in Discord's portal. */
const INTENTS = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 11) | (1 << 12) | (1 << 13) | (1 << 14) | (1 << 15);
const MIB = 1024 * 1024;

export function openDiscord(platform: PlatformDeps, settings: DiscordSettings): OpenChannel {
  const deps = { ...platform, facts: accountState(platform.facts, CHANNEL, ACCOUNT) };
  const { clock, log, door } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  let me: string | null = null;
  let application = settings.applicationId ?? null;
  const rest = openRest(settings);
  const { api } = rest;
  const places = createPlaces();
  const tasks = createTasks((error) => log.warn("work for Discord failed", { kind: failureOf(error).kind }));
  const previews = startPreviews(deps, discordPreviews(api), settings.streamMode);
  const approvals = startApprovalMessages(deps, approvalPlatform(api), signal);
  const maxFileBytes = settings.mediaMaxMb * MIB;
  const intake = startIntake({
    ...deps,
    api,
    download: rest.download,
    mediaMaxMb: settings.mediaMaxMb,
    places,
    seen: createSeen(deps.facts),
    previews,
    me: () => me,
  });
  const interactions = createInteractions({
    clock,
    door,
    questions: deps.questions,
    approvals,
    places,
    replays: createReplays(deps),
    previews,
    applicationId: () => application,
  });
  const link = startLink(
    {
      ...deps,
      api,
      renew: rest.renew,
      onReady(data) {
        me = data.user.id;
        application ??= data.application.id;
        intake.begun();
        void tasks.add(registerMenu({ ...deps, api }, application, signal));
      },
      onDispatch: createDispatcher({ api, door, places, intake, interactions, tasks, me: () => me }, signal),
    },
    { token: settings.token, intents: INTENTS },
  );
  approvals.open();
  const parts = discordParts({ log, api, files: deps.files, maxFileBytes });
  const sender = createPartSender({ log, facts: deps.facts, previews }, parts);
  return {
    ...discordActions({ api, me: () => me }),
    id: CHANNEL,
    account: ACCOUNT,
    canRefuse: false,
    repeat: "deduplicated",
    dedupeMs: DEDUPE_MS,
    send: (part, until) => sender.send(part, AbortSignal.any([until, signal])),
    messages: sender.messages,
    ready: () => link.health().ok,
    health: () => link.health(),
    questions: createQuestionMessages({ api, log }, signal),
    ...(settings.publicKey === undefined
      ? {}
      : { webhook: discordWebhook({ clock, log, interactions }, settings.publicKey) }),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the channel is closing"));
      approvals[Symbol.dispose]();
      await link[Symbol.asyncDispose]();
      await intake[Symbol.asyncDispose]();
      await previews[Symbol.asyncDispose]();
      await Promise.all([approvals.settled(), tasks.settled()]);
      rest[Symbol.dispose]();
    },
  };
}
