/** Turns: what answers messages, with everything a model is told and everything a reply passes through. */
import type { Config } from "../config/index.ts";
import type { AgentId } from "../contracts/ids.ts";
import { createTurnContext, startTurns, type TurnsOptions } from "../flow/index.ts";
import type { Lifetime } from "../kit/lifetime.ts";
import { type Core, ofModule } from "./core.ts";
import type { Groups } from "./groups.ts";
import { createWorkspaceFiles } from "./files.ts";

/** Time on top of the grace time in which a turn is left behind in good order. */
const TURNS_MARGIN_MS = 10_000;

export function beginTurns(life: Lifetime, whole: Core, { people, tools, agents, messages }: Groups): void {
  const core = ofModule(whole, "turns");
  const { clock, ids, log, events, hooks, store, config } = core;
  // how a turn ends cannot be stored any more once the database has failed, so nobody waits for it
  const graceMs = (): number => (store.health.hasFailed() ? 0 : config().gateway.stopGraceMs);
  const turns = startTurns(
    {
      clock,
      log,
      events,
      queue: messages.queue,
      live: messages.live,
      commands: messages.commands,
      rights: people.rights,
      budget: people.budget,
      agents: { pool: agents.pool, delegations: agents.delegations, lastStats: messages.lastStats },
      prompt: {
        ids,
        context: createTurnContext({ clock, ids }, { zoneOf: people.times.zoneOf }),
        commands: messages.commands,
        media: store.media,
        attached: createWorkspaceFiles(core),
        reactions: store.outbox,
        messageIds: store.messages,
        groupTalk: messages.groupTalk,
        history: store.sessions,
        systemEvents: store.systemEvents,
      },
      replies: { tools: tools.gate, poster: tools.poster, hooks, outbox: messages.outbox },
    },
    (agentId) => ({ ...turnLimits(config(), agentId), graceMs: graceMs() }),
  );
  life.own("turns", turns, () => config().gateway.stopGraceMs + TURNS_MARGIN_MS);
}

function turnLimits({ agent, agents, heartbeat }: Config, agentId: AgentId | undefined): Omit<TurnsOptions, "graceMs"> {
  const own = agents.find(({ id }) => id === agentId);
  return {
    timeoutMs: own?.timeoutMs ?? agent.timeoutMs,
    ackMaxChars: own?.heartbeat?.ackMaxChars ?? heartbeat.ackMaxChars,
  };
}
