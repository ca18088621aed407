/** Plugin hooks that only observe, told from what passes anyway: events of turns, and messages that a channel has sent. */
import type { Channel } from "../contracts/channel.ts";
import type { Events } from "../contracts/events.ts";
import type { AgentId, SessionKey } from "../contracts/ids.ts";
import type { Hooks } from "../contracts/plugin-hooks.ts";

/** `before_agent_start`, `session_start` and `session_end`: a session is in use from the start of a turn to its end. */
export function tellTurns(hooks: Pick<Hooks, "tell">, events: Pick<Events, "on">): void {
  events.on("turn.started", ({ sessionKey, turnId, attempt }) => {
    const agentId = agentOf(sessionKey);
    if (attempt === 1) hooks.tell("session_start", { sessionKey, agentId });
    hooks.tell("before_agent_start", { sessionKey, agentId, turnId });
  });
  events.on("turn.ended", ({ sessionKey, outcome }) => hooks.tell("session_end", { sessionKey, outcome }));
}

/** `message_sent`: the same channel, and plugins hear of each part that it has sent. */
export function tellSent(hooks: Pick<Hooks, "tell">, channel: Channel): Channel {
  return Object.assign(Object.create(channel) as Channel, {
    async send(...[part, signal]: Parameters<Channel["send"]>) {
      const receipt = await channel.send(part, signal);
      hooks.tell("message_sent", { sessionKey: part.sessionKey, to: part.to, partId: part.id });
      return receipt;
    },
  });
}

/** The second part of every session key. */
function agentOf(sessionKey: SessionKey): AgentId {
  return decodeURIComponent(sessionKey.split(":")[1] ?? "") as AgentId;
}
