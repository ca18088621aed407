/** The way of a message, put together: channels, who may come in by them, commands, queue, receiver, outbox. Opens no platform yet. */
import { BUILTIN_PLATFORMS, type BuiltinChannels } from "../builtin.ts";
import { createChannelSet, maskOut, type Platforms } from "../channels/index.ts";
import { createCommands } from "./commands.ts";
import { createLastStats } from "../commands/index.ts";
import type { Config } from "../config/index.ts";
import type { AgentPool } from "../contracts/agent.ts";
import type { Budget } from "../contracts/budget/budget.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { JobDesk } from "../contracts/automation/jobs.ts";
import type { Channel, Receiver } from "../contracts/channel.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { Hooks } from "../contracts/plugins/hooks.ts";
import type { Queue } from "../contracts/queue.ts";
import type { Rights } from "../contracts/channels/rights.ts";
import type { Store } from "../contracts/store.ts";
import type { Questions } from "../contracts/channels/question.ts";
import type { Approvals } from "../contracts/tools/approval.ts";
import type { ToolGate } from "../contracts/tools/tool.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import { startOutbox } from "../delivery/index.ts";
import { createDesk } from "./desk.ts";
import { createGroupTalk, createLiveTurns, createReceiver, takeAnswers } from "../flow/index.ts";
import type { GatewayDeps, GatewayOptions } from "../gateway.ts";
import { tellReceived, tellSent } from "./hook-points.ts";
import { createQueue } from "../queue/index.ts";
import type { RouteFacts } from "../contracts/routing.ts";
import {
  accessDoors,
  explainRoute,
  createRouter,
  groupContextOf,
  openPairing,
  openRoleGrants,
} from "../routing/index.ts";
import type { Homes } from "../schedule/index.ts";
import { createReceiverCheck } from "../rights.ts";
import { tellOwnerOfUndelivered } from "./undelivered.ts";
import { createWayIn, inboundFiles } from "./way-in.ts";

export interface MessageWayParts extends GatewayDeps {
  readonly events: Events;
  readonly store: Store;
  readonly pool: AgentPool;
  readonly hooks: Hooks;
  readonly named: BuiltinChannels;
  /** Channels of the gateway's own that no person writes to. */
  readonly inner: readonly Channel[];
  readonly jobs: JobDesk;
  readonly people: PersonTimes;
  readonly approvals: Approvals;
  readonly tools: ToolGate;
  readonly budget: Budget;
  readonly questions: Questions;
  readonly rights: Rights;
  /** Built later. */
  status(): GatewayStatus;
  homes(): Homes;
}

export async function openMessageWay(
  parts: MessageWayParts,
  config: () => Config,
  options: GatewayOptions,
  stopping: AbortSignal,
) {
  const { clock, log, events, store, pool, hooks } = parts;
  const { inner } = parts;
  const taken = [...Object.values(parts.named), ...inner].map(({ id }) => id);
  const around = (channel: Channel) => tellSent({ hooks })(maskOut(parts, channel));
  const channels = createChannelSet(Object.values(parts.named), { inner, around, platforms: () => platforms });
  const grants = await openRoleGrants(store.roleGrants, () => events.emit("status", { what: "pairing" }));
  const pairing = await openPairing({ ...parts, store: store.pairings, grants, roles: () => config().roles });
  const doors = accessDoors(() => ({ ...platforms.access(), ...config().channels }), pairing.isPaired);
  const desk = createDesk({ clock, pool, environment: options.environment }, config, { grants, doors });
  const stats = createLastStats();
  const asked = { queue: () => queue, pairing };
  const commands = createCommands(config, {
    ...parts,
    ...desk,
    ...asked,
    stats,
    userHome: options.environment.userHome,
  });
  const queue: Queue = createQueue({ ...parts, workKind: commands.workKind }, () => config().queue);
  const router = createRouter(config, doors, grants.current);
  const received = createReceiver({ log, events, queue, channels, router }, () => config().queue, stopping);
  const receiver: Receiver = tellReceived({ hooks }, received);
  const chats = takeAnswers({ router, commands, questions: parts.questions }, receiver);
  const live = createLiveTurns({ clock, events, queue, mask: parts.mask });
  const tellOwner = tellOwnerOfUndelivered({ clock, store, homes: parts.homes, outbox: () => outbox });
  const mayReceive = createReceiverCheck({ rights: parts.rights, places: store.places, inner: taken });
  const outbox: Outbox = startOutbox({
    ...parts,
    store: store.outbox,
    channels,
    tellOwner,
    mayReceive,
    platformIds: (id) => store.messages.platformIds(id),
  });
  const arriving = inboundFiles(parts, options, config);
  const groupTalk = createGroupTalk({ clock }, ({ address, place }) =>
    groupContextOf(doors.policyOf(address.channel, address.account), { chat: address.chat, place }),
  );
  const wayIn = { ...parts, router, receiver: chats, pairing, commands, outbox, files: arriving, groupTalk };
  const platforms: Platforms = createWayIn(wayIn, { platforms: options.platforms ?? BUILTIN_PLATFORMS, taken });
  const inside = { channels, commands, queue, received, live, outbox, platforms, lastStats: stats, groupTalk };
  const explain = (facts: RouteFacts) => explainRoute(config(), facts, doors, grants.current());
  const answering = { doors, models: desk.models, grants: grants.current, explainRoute: explain };
  return { ...inside, receiver, chats, pairing, arriving, ...answering };
}
