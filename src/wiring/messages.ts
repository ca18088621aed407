/** Messages: commands, queue, receiver, running turns, outbox and platforms. Built here, in the order of a message; nothing begins yet. */
import { BUILTIN_PLATFORMS, type BuiltinChannels, builtinChannels } from "../builtin.ts";
import { createPlatforms, type HoldPlatform, type Platforms } from "../channels/index.ts";
import { type CommandRegistry, createCommandRegistry, createLastStats } from "../commands/index.ts";
import type { LastStats } from "../contracts/command.ts";
import type { InboundFiles, PlatformDeps } from "../contracts/channels/platform.ts";
import type { Outbox, ReplyRetries } from "../contracts/delivery.ts";
import type { NodeLeaseStore } from "../contracts/store/node-leases.ts";
import type { SessionPreparer } from "../contracts/flow.ts";
import type { Queue } from "../contracts/queue.ts";
import type { SessionKey } from "../contracts/ids.ts";
import type { Router } from "../contracts/routing.ts";
import { createReplyRetries, type OtherSenders, startOutbox, tellOwnerOfUndelivered } from "../delivery/index.ts";
import {
  createMessageIntake,
  createGroupTalk,
  createLiveTurns,
  createReactionWakes,
  createReceiver,
  createSessionPreparer,
  type GroupTalk,
  type LiveTurnRecorder,
  type ReactionWakes,
  type MessageReceiver,
} from "../flow/index.ts";
import { createSessionHomes, createSharedQueue, type SessionHomes, sharePlatforms } from "../nodes/index.ts";
import { background } from "../kit/background.ts";
import { createQueue } from "../queue/index.ts";
import { createReceiverCheck } from "../rights.ts";
import { createRouter, groupContextOf } from "../routing/index.ts";
import type { Agents } from "./agents.ts";
import { type Core, ofModule } from "./core.ts";
import { openInboundFiles } from "./files.ts";
import type { People } from "./people.ts";
import { promptTemplates } from "./prompt-templates.ts";
import type { Tools } from "./tools.ts";

export interface Messages {
  /** Empty at first: built-in commands and plugins register theirs. */
  readonly commands: CommandRegistry;
  /** Of all gateways on the database; what waits and runs in its lanes is this one's. */
  readonly queue: Queue;
  /** Where sessions live; null: all of them here. */
  readonly homes: SessionHomes | null;
  readonly receiver: MessageReceiver;
  /** For those who may write soon. */
  readonly preparer: SessionPreparer;
  readonly live: LiveTurnRecorder;
  readonly outbox: Outbox;
  readonly replyRetries: ReplyRetries;
  readonly platforms: Platforms;
  readonly builtinChannels: BuiltinChannels;
  readonly inboundFiles: InboundFiles;
  readonly groupTalk: GroupTalk;
  readonly lastStats: LastStats;
  /** From now on every new message is refused. */
  refuseMore(): void;
}

export function openMessages(whole: Core, people: People, tools: Tools, { pool }: Pick<Agents, "pool">): Messages {
  const core = ofModule(whole, "messages");
  const { clock, ids, log, events, store, config, channels, hooks, secrets } = core;
  const stopping = new AbortController();
  const webchat = builtinChannels({ events, clock, store });
  for (const channel of Object.values(webchat)) channels.register(channel);

  const commands = createCommandRegistry([], promptTemplates(core));
  const lanes = createQueue({ clock, ids, log, store, workKind: commands.workKind }, () => config().queue);
  const { queue, homes } = shareQueue(core, lanes);
  const router = createRouter(config, people.policies, people.grants.current);
  const receiver = createReceiver(
    { log, events, router, queue, channels, commands, questions: tools.questions, hooks },
    () => config().queue,
    stopping.signal,
  );
  const isHome = (key: SessionKey): boolean => homes === null || homes.isHere(key);
  const preparer = createSessionPreparer(
    { clock, ids, log, router, queue, isHome, turns: store.turns, pool },
    stopping.signal,
  );
  const live = createLiveTurns({ clock, events, queue, mask: secrets.mask, elsewhere: core.nodes.heard.turn });
  const { outbox, replyRetries } = openOutbox(core, people);
  const inboundFiles = openInboundFiles(core);
  const groupTalk = createGroupTalk({ clock }, ({ address, place }) =>
    groupContextOf(people.policies.policyOf(address.channel, address.account), { chat: address.chat, place }),
  );
  const reactionWakes = createReactionWakes({
    clock,
    log,
    receiver,
    sessionChats: people.sessionChats,
    mayWake: ({ channel, account }) => people.policies.policyOf(channel, account).wakeOnReaction,
    stopping: stopping.signal,
  });
  const platforms = openPlatforms(core, {
    people,
    tools,
    messages: { commands, receiver, preparer, outbox, inboundFiles, groupTalk, router, reactionWakes },
    stopping: stopping.signal,
  });
  return {
    commands,
    queue,
    homes,
    receiver,
    preparer,
    live,
    outbox,
    replyRetries,
    platforms,
    builtinChannels: webchat,
    inboundFiles,
    groupTalk,
    lastStats: createLastStats(),
    refuseMore: () => stopping.abort(new Error("the gateway is stopping")),
  };
}

/** Alone with its database, a gateway has every session, and asks nobody. */
function shareQueue(
  { clock, ids, log, events, store, nodes }: Core,
  lanes: Queue,
): { readonly queue: Queue; readonly homes: SessionHomes | null } {
  if (!store.nodes.several) return { queue: lanes, homes: null };
  const me = store.instanceId;
  const homes = createSessionHomes({ clock, log, me, leases: store.nodeLeases, isBusy: lanes.isBusy });
  events.on("session.deleted", ({ sessionKey }) =>
    background(log, "home of a deleted session was not given back", () => homes.giveUp(sessionKey)),
  );
  return { queue: createSharedQueue(lanes, { clock, ids, nodes: nodes.others, homes, inbox: store.inbox, me }), homes };
}

function openOutbox(core: Core, { rights, ownerNotices }: People): Pick<Messages, "outbox" | "replyRetries"> {
  const { clock, ids, log, events, store, channels } = core;
  const { isOwn: isOwnChannel } = channels;
  const mayReceive = createReceiverCheck({ rights, sessionChatStore: store.sessionChats, isOwnChannel });
  const outbox = startOutbox({
    clock,
    ids,
    log,
    events,
    channels,
    store: store.outbox,
    isHeld: store.nodes.isHeld,
    tellOwner: tellOwnerOfUndelivered({ clock, ownerNotices }),
    mayReceive,
    platformIds: (id) => store.messages.platformIds(id),
    others: otherSenders(core),
  });
  core.outboxWake.subscribe(() => outbox.wake());
  hearOfHandedParts(core, outbox);
  const replyRetries = createReplyRetries({ clock, events, store: store.outbox, channels, mayReceive, outbox });
  return { outbox, replyRetries };
}

/** Alone with its database, a gateway sends everything itself. */
function otherSenders({ store, nodes }: Core): OtherSenders | null {
  if (!store.nodes.several) return null;
  return {
    me: store.instanceId,
    holderOf: async (channel) => (await store.nodeLeases.heldBy({ kind: "platform", key: channel }))?.owner ?? null,
    handed: (to) => nodes.others.tell("outbox", { for: to }),
  };
}

/** Where something that was said is missing, that may have been among it. */
function hearOfHandedParts({ store, nodes }: Core, outbox: Outbox): void {
  nodes.others.hear("outbox", ({ for: node }) => {
    if (node === store.instanceId) outbox.lookAgain();
  });
  nodes.others.onMissed(() => outbox.lookAgain());
}

interface PlatformParts {
  readonly people: People;
  readonly tools: Tools;
  readonly messages: Pick<Messages, "commands" | "receiver" | "preparer" | "outbox" | "inboundFiles" | "groupTalk"> & {
    readonly router: Router;
    readonly reactionWakes: ReactionWakes;
  };
  readonly stopping: AbortSignal;
}

/** Connects nothing yet: `apply` does. */
function openPlatforms(core: Core, { people, tools, messages, stopping }: PlatformParts): Platforms {
  const { clock, ids, log, events, store, nodes, channels, options } = core;
  const { commands, receiver, preparer, outbox, inboundFiles, groupTalk, router, reactionWakes } = messages;
  const deps: PlatformDeps = {
    clock,
    ids,
    log,
    events,
    facts: store.channelState,
    files: inboundFiles,
    approvals: tools.approvals,
    questions: tools.questions,
    door: createMessageIntake({
      clock,
      log,
      router,
      receiver,
      pairing: people.pairing,
      inbox: store.inbox,
      reactions: { events, messages: store.messages, reactions: store.outbox },
      groupTalk,
      reactionWakes,
      preparer,
      stopping,
    }),
    replies: {
      owes: (to) => outbox.owes(to),
      isOwed: (turnId) => store.outbox.isOwed(turnId),
      isHeld: store.nodes.isHeld,
    },
    commands: (role) => commands.list(role),
  };
  const platforms = createPlatforms(deps, options.platforms ?? BUILTIN_PLATFORMS, {
    isTaken: channels.isOwn,
    hold: platformHold(store.nodeLeases, store.nodes.several ? () => nodes.others.list().length > 0 : null),
  });
  const { channel } = store.nodes.several ? shared(core, platforms) : platforms;
  const { health, accountOf, access } = platforms;
  channels.registerPlatforms({ channel, health, accountOf, access });
  return platforms;
}

function shared({ clock, log, nodes }: Core, platforms: Platforms): Pick<Platforms, "channel"> {
  return sharePlatforms(platforms, { clock, log, events: nodes.ownEvents, nodes: nodes.others });
}

/** One gateway at a time receives for a platform. */
function platformHold(leases: NodeLeaseStore, isWanted: (() => boolean) | null): HoldPlatform {
  return async (id) => {
    const thing = { kind: "platform", key: id } as const;
    const { kind, lease } = await leases.acquire(thing);
    if (kind === "held") return { kind, by: lease.ownerName };
    return { kind, isWanted, release: async () => void (await leases.release(thing, lease.number)) };
  };
}
