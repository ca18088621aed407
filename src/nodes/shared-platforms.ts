/**
 * Platforms that another gateway receives for. What an agent does there besides replying (reactions, edits, deletions, pins, questions with
 * buttons) is handed to that gateway, as reply parts are by the outbox. Each gateway says which platforms it has open, and what they can do.
 */
import { type ActionResult, type Channel, SendError } from "../contracts/channel.ts";
import type { ShownQuestion } from "../contracts/channels/question.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Events } from "../contracts/events.ts";
import type { InstanceId } from "../contracts/ids.ts";
import type { OtherNodes, PlatformAbilities, PlatformAct } from "../contracts/nodes.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";

interface SharedPlatformDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** What happens at this gateway. */
  readonly events: Pick<Events, "on">;
  readonly nodes: Pick<OtherNodes, "ask" | "answer" | "tell" | "hear" | "onCame" | "onGone" | "onMissed">;
}

interface OwnPlatforms {
  channel(id: string): Channel | undefined;
  channels(): readonly Channel[];
  isOpen(id: string): boolean;
}

/** Less than a question to another gateway takes at most. */
const ACT_MS = 10_000;
/** Of other gateways; each session asks one at a time. */
const MAX_SHOWN = 500;
const ACTS = ["react", "edit", "delete", "pin"] as const satisfies readonly PlatformAct["kind"][];
const GONE = { answered: false, words: "This question is over. The gateway that asked it has ended." };

/** The channels of this gateway, and in the place of those that it does not receive for the way to the one that does. */
export function sharePlatforms(own: OwnPlatforms, deps: SharedPlatformDeps): Pick<OwnPlatforms, "channel"> {
  const { events, nodes, log } = deps;
  const far = createFarChannels(nodes);
  const openHere = (): readonly PlatformAbilities[] =>
    own
      .channels()
      .filter(({ id }) => own.isOpen(id))
      .map(abilitiesOf);
  const tell = (): void => nodes.tell("platforms", openHere());
  const askFor = (node: InstanceId): void =>
    background(log, "another gateway did not say which platforms it has open", async () =>
      far.learn(node, await nodes.ask(node, "platforms", null)),
    );

  events.on("status", ({ what }) => {
    if (what === "channels") tell();
  });
  nodes.hear("platforms", (open, from) => far.learn(from, open));
  nodes.answer("platforms", async () => openHere());

  nodes.onCame(askFor);
  nodes.onMissed(askFor);
  nodes.onGone(far.forget);

  actForOthers(own, deps);
  return {
    channel(id) {
      const local = own.channel(id);
      return local && !own.isOpen(id) ? (far.channel(id) ?? local) : local;
    },
  };
}

/** What other gateways have open. */
function createFarChannels(nodes: Pick<OtherNodes, "ask">) {
  const known = new Map<string, { readonly node: InstanceId; readonly channel: Channel }>();
  const forget = (node: InstanceId): void => {
    for (const [id, one] of known) if (one.node === node) known.delete(id);
  };
  return {
    forget,
    learn(node: InstanceId, open: readonly PlatformAbilities[]): void {
      forget(node);
      for (const abilities of open) known.set(abilities.id, { node, channel: farChannel(nodes, node, abilities) });
    },
    channel: (id: string): Channel | undefined => known.get(id)?.channel,
  };
}

function abilitiesOf(channel: Channel): PlatformAbilities {
  const { id, questions } = channel;
  const acts = ACTS.filter((act) => channel[act] !== undefined);
  if (!questions) return { id, acts, questions: null };
  const { maxButtons, maxLabelChars } = questions;
  return { id, acts, questions: { maxButtons, maxLabelChars } };
}

/** Sends nothing itself: reply parts are handed over by the outbox. */
function farChannel(
  nodes: Pick<OtherNodes, "ask">,
  node: InstanceId,
  { id, acts, questions }: PlatformAbilities,
): Channel {
  const detail = "another gateway receives for it";
  const act = async (made: PlatformAct): Promise<ActionResult> => {
    try {
      return await nodes.ask(node, "platform.act", { channel: id, act: made });
    } catch {
      // whatever went wrong there is in its log
      return { kind: "refused", because: "The gateway that is connected to this chat does not answer right now." };
    }
  };
  const can = (kind: PlatformAct["kind"]): boolean => acts.includes(kind);
  return {
    id,
    canRefuse: false,
    repeat: "safe",
    send: async () => {
      throw new SendError("retry", detail);
    },
    ready: () => false,
    health: () => ({ ok: false, detail }),
    ...(can("react") && { react: (target, reaction) => act({ kind: "react", target, reaction }) }),
    ...(can("edit") && { edit: (target, text) => act({ kind: "edit", target, text }) }),
    ...(can("delete") && { delete: (target) => act({ kind: "delete", target }) }),
    ...(can("pin") && { pin: (target, unpin) => act({ kind: "pin", target, unpin }) }),
    ...(questions && {
      questions: {
        ...questions,
        async show(asked) {
          const { messageId } = await nodes.ask(node, "platform.show", asked);
          return {
            messageId,
            close: async (end) => {
              await nodes.ask(node, "platform.close", { id: asked.id, end }).catch(() => null); // its buttons say that it is over
            },
          };
        },
      },
    }),
  };
}

/** The side that has the platform. */
function actForOthers(own: OwnPlatforms, { clock, log, nodes }: SharedPlatformDeps): void {
  const shown = new Map<string, { readonly from: InstanceId; readonly question: ShownQuestion }>();
  const close = async (id: string, end: Parameters<ShownQuestion["close"]>[0]): Promise<void> => {
    const one = shown.get(id);
    shown.delete(id);
    await one?.question.close(end);
  };

  nodes.answer("platform.act", async ({ channel, act }) => {
    using limit = clock.deadline(ACT_MS, () => new Error("the platform took too long"));
    return perform(open(own, channel), act, limit.signal);
  });
  nodes.answer("platform.show", async (asked, from) => {
    const { questions } = open(own, asked.to.channel);
    if (!questions) throw new GatewayError("node_silent", "this platform shows no questions with buttons");
    using limit = clock.deadline(ACT_MS, () => new Error("the platform took too long"));
    const question = await questions.show(asked, limit.signal);
    shown.set(asked.id, { from, question });
    const [oldest] = shown.keys();
    if (shown.size > MAX_SHOWN && oldest !== undefined) shown.delete(oldest);
    return { messageId: question.messageId };
  });
  nodes.answer("platform.close", async ({ id, end }) => {
    await close(id, end);
    return null;
  });
  nodes.onGone((node) => {
    for (const [id, { from }] of [...shown])
      if (from === node) background(log, "end of a question not shown", () => close(id, GONE));
  });
}

/** It may have been given to another gateway a moment ago. */
function open(own: OwnPlatforms, id: string): Channel {
  const channel = own.isOpen(id) ? own.channel(id) : undefined;
  if (!channel) throw new GatewayError("node_silent", "this gateway does not receive for the platform");
  return channel;
}

const CANNOT: ActionResult = { kind: "refused", because: "This chat cannot do that." };

async function perform(channel: Channel, act: PlatformAct, signal: AbortSignal): Promise<ActionResult> {
  if (act.kind === "react") return (await channel.react?.(act.target, act.reaction, signal)) ?? CANNOT;
  if (act.kind === "edit") return (await channel.edit?.(act.target, act.text, signal)) ?? CANNOT;
  if (act.kind === "pin") return (await channel.pin?.(act.target, act.unpin, signal)) ?? CANNOT;
  return (await channel.delete?.(act.target, signal)) ?? CANNOT;
}
