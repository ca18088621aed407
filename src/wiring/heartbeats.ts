/** The heartbeat put together: the settings of each agent, its checklist and rights, and the owner who is told when a provider rejects it. */
import { agentProfiles, agentWorkspace, readChecklist } from "../agents/index.ts";
import type { Config, Environment } from "../config/index.ts";
import type { OwnReceiver } from "../contracts/automation/own-message.ts";
import type { Budget } from "../contracts/budget/budget.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { AgentId, TurnId } from "../contracts/ids.ts";
import type { Queue } from "../contracts/queue.ts";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { DEFAULT_AGENT, heartbeatSessionKey, OPERATOR } from "../routing/index.ts";
import {
  type Heartbeat,
  type HeartbeatRefusal,
  type HeartbeatSettings,
  type Homes,
  type RunRights,
  startHeartbeat,
} from "../schedule/index.ts";

export interface HeartbeatParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly events: Events;
  readonly config: () => Config;
  readonly environment: Environment;
  readonly home: string;
  readonly homes: Homes;
  readonly budget: Pick<Budget, "ask">;
  readonly roleOf: RunRights["roleOf"];
  receiver(): OwnReceiver;
  outbox(): Pick<Outbox, "wake">;
  queue(): Pick<Queue, "isBusy">;
}

/** A clock of its own: nothing about it keeps a job from running. */
export function beginHeartbeat(parts: HeartbeatParts): Heartbeat {
  const { store, config, queue, home, environment, roleOf } = parts;
  return startHeartbeat(
    {
      ...parts,
      ...{ turns: store.turns, places: store.places, systemEvents: store.systemEvents },
      receiver: parts.receiver(),
      busy: (sessionKey) => queue().isBusy(sessionKey),
      checklist(agentId) {
        const named = config().agents.find(({ id }) => id === agentId);
        const profile = [...agentProfiles(config()).values()].find(
          ({ id, role }) => id === agentId && role === "owner",
        );
        if (!profile || (agentId !== DEFAULT_AGENT && named?.workspace === undefined)) return Promise.resolve(null); // it shares a folder
        return readChecklist(agentWorkspace(profile.config, { home, environment }));
      },
      standing(agentId, place) {
        const role = roleOf({ createdBy: OPERATOR, role: "owner", agentId }, place);
        return role && { principal: OPERATOR, role };
      },
      sessionOf: heartbeatSessionKey,
      unpaid: (agentId) => !parts.budget.ask({ agentId, principal: OPERATOR, origin: "heartbeat" }).may,
      tellRefused: (refusal) => tellRefused(parts, refusal),
    },
    () => heartbeatsOf(config()),
  );
}

const DAY_MS = 86_400_000;

/** The id holds agent, reason and day: a restart does not tell the owner again on the same day. */
async function tellRefused({ clock, store, homes, config, outbox }: HeartbeatParts, refusal: HeartbeatRefusal) {
  const { agentId, code, at } = refusal;
  const { sessionKey, agentId: homeAgent, to } = await homes.ofOwner();
  const text = refusalText(config(), refusal);
  await store.places.say({
    turnId: `heartbeat-refused-${agentId}-${code}-${Math.floor(at / DAY_MS)}` as TurnId,
    sessionKey,
    agentId: homeAgent,
    principal: OPERATOR,
    to,
    at: clock.now(),
    reply: [{ part: 0, message: { kind: "notice", text } }],
  });
  outbox().wake();
}

const CAUSES: Readonly<Record<string, string>> = {
  provider_auth: "rejects the API key. Check the key of this provider in the settings",
  provider_unpaid: "wants to be paid first. Look at the credits and the billing of this account there",
  model_missing: "does not have the configured model, or has no key. Check the model and the key",
};

export function refusalText(
  { agent, agents }: Pick<Config, "agent" | "agents">,
  { agentId, code }: HeartbeatRefusal,
): string {
  const model = agents.find(({ id }) => id === agentId)?.model ?? agent.model;
  const provider = model?.split("/")[0] ?? "The model provider";
  const cause = CAUSES[code] ?? "does not accept the request. The gateway's log has the reason";
  return `The heartbeat of ${agentId} does not work: ${provider} ${cause}. It is tried a few times more and then waits until a turn works again.`;
}

/** The first is the default agent. */
export function heartbeatsOf({
  heartbeat,
  agents,
}: Pick<Config, "heartbeat" | "agents">): readonly HeartbeatSettings[] {
  const others = agents.map(({ id, heartbeat: own = {} }) => ({
    ...{ ...heartbeat, ...own },
    agentId: id as AgentId,
    withoutChecklist: own.enabled === true, // nobody says that of an agent that has nothing to look after
  }));
  return [{ ...heartbeat, agentId: DEFAULT_AGENT, withoutChecklist: true }, ...others];
}
