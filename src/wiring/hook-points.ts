/** Where plugins look into the way of a message: the parts of the house do not know of hooks; they are told, or asked, from around them. */
import type { Channel, Receiver } from "../contracts/channel.ts";
import type { ReplyPart } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { AgentId, SessionKey } from "../contracts/ids.ts";
import type { HookEntry, Hooks } from "../contracts/plugins/hooks.ts";
import type { Batch, Queue } from "../contracts/queue.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";
import { misfitOf, type Shape } from "../kit/shape.ts";
import { withQuoted } from "../kit/marks/quoted.ts";

/** Who may change a reply is waited for this long. */
const SENDING_MS = 15_000;
/** Any other answer may be a misspelt wish to change the reply, so it counts as a failed check. */
const SENDING_ANSWER: Shape = { kind: "group", keys: { text: { shape: { kind: "text" }, optional: true } } };

interface HookPointDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly hooks: Hooks;
}

/** `message_received`: for what was accepted, not for repeats and refusals. */
export function tellReceived({ hooks }: Pick<HookPointDeps, "hooks">, receiver: Receiver): Receiver {
  return {
    async receive(message, signal) {
      const receipt = await receiver.receive(message, signal);
      const { address: from, sender } = message;
      const text = withQuoted(message.text, message.quoted);
      if (receipt.kind === "queued")
        hooks.tell("message_received", { sessionKey: receipt.sessionKey, principal: sender.principal, from, text });
      return receipt;
    },
  };
}

/** `before_agent_start`, `session_start` and `session_end`: a session is in use from the start of a turn to its end. */
export function tellTurns({ hooks }: Pick<HookPointDeps, "hooks">, events: Events): void {
  events.on("turn.started", ({ sessionKey, turnId, attempt }) => {
    const agentId = agentOf(sessionKey);
    if (attempt === 1) hooks.tell("session_start", { sessionKey, agentId });
    hooks.tell("before_agent_start", { sessionKey, agentId, turnId });
  });
  events.on("turn.ended", ({ sessionKey, outcome }) => hooks.tell("session_end", { sessionKey, outcome }));
}

/** `message_sent`. */
export function tellSent({ hooks }: Pick<HookPointDeps, "hooks">): (channel: Channel) => Channel {
  return (channel) =>
    Object.assign(Object.create(channel) as Channel, {
      async send(...[part, signal]: Parameters<Channel["send"]>) {
        const receipt = await channel.send(part, signal);
        hooks.tell("message_sent", { sessionKey: part.sessionKey, to: part.to, partId: part.id });
        return receipt;
      },
    });
}

/** `message_sending`: replies pass the plugins before they are stored, so that what is shown and what is kept are the same. */
export function askBeforeSending(deps: HookPointDeps, queue: Queue): Queue {
  return {
    ...queue,
    take: async (signal) => asking(deps, await queue.take(signal)),
    takeCommand: async (signal) => asking(deps, await queue.takeCommand(signal)),
  };
}

function asking(deps: HookPointDeps, batch: Batch): Batch {
  let asked: Promise<readonly ReplyPart[]> | null = null; // a store that is full is tried again; plugins are asked once
  return {
    ...batch,
    get entries() {
      return batch.entries; // grows while the turn runs
    },
    async finish(end) {
      asked ??= askAll(deps, batch, end.reply);
      return batch.finish({ ...end, reply: await asked });
    },
  };
}

async function askAll(deps: HookPointDeps, batch: Batch, reply: readonly ReplyPart[]): Promise<readonly ReplyPart[]> {
  const handlers = await deps.hooks.deciding("message_sending");
  return handlers.length === 0 ? reply : Promise.all(reply.map((part) => askAbout(deps, batch, part, handlers)));
}

/** Fails closed: what a plugin could not check is held back, and the chat is told so. */
async function askAbout(
  deps: HookPointDeps,
  batch: Batch,
  part: ReplyPart,
  handlers: readonly HookEntry<"message_sending">[],
): Promise<ReplyPart> {
  const [first] = batch.entries;
  if (!first || part.message.kind !== "reply") return part;
  let text = part.message.text;
  for (const { plugin, handler } of handlers) {
    using limit = deps.clock.deadline(SENDING_MS, () => new Error(`it did not end within ${SENDING_MS} ms`));
    try {
      const event = { sessionKey: batch.sessionKey, to: first.message.address, text };
      const answer = await orAborted(Promise.resolve(handler(event, limit.signal)), limit.signal);
      const wrong = misfitOf(plugin, answer ?? {}, SENDING_ANSWER);
      if (wrong !== null) throw new Error(wrong);
      if (answer?.text !== undefined) ({ text } = answer);
    } catch (error) {
      deps.log.warn("a plugin could not check a reply; it is held back", { plugin, error });
      const say = `The reply was held back because the plugin ${plugin} could not check it.`;
      return { ...part, message: { ...part.message, kind: "notice", text: say } };
    }
  }
  return { ...part, message: { ...part.message, text } };
}

/** The second part of every session key. */
function agentOf(sessionKey: SessionKey): AgentId {
  return decodeURIComponent(sessionKey.split(":")[1] ?? "") as AgentId;
}
