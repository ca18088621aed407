/** The commands that ship with the gateway. Each may run again after a crash: they look, or they do what is done already. */
import type { Command, LastStats } from "../contracts/command.ts";
import type { Events } from "../contracts/events.ts";
import type { AgentId, Role } from "../contracts/ids.ts";
import type { Queue } from "../contracts/queue.ts";
import type { Store } from "../contracts/store.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import type { Clock } from "../kit/clock.ts";
import { mayUse } from "./registry.ts";
import { contextWords, queueWords, sessionLines, statusWords, usageWords } from "./words.ts";

export interface BuiltinCommandDeps {
  readonly clock: Clock;
  readonly events: Events;
  readonly store: Pick<Store, "sessions" | "turns">;
  readonly stats: LastStats;
  status(): GatewayStatus;
  queued: Queue["session"];
  /** Every command there is, plugins' included; absent: those of this list. */
  all?(): readonly Command[];
  /** What the configuration says; null where it leaves the choice to pi. */
  configured(agentId: AgentId): { readonly model: string | null; readonly thinking: string | null };
}

const EVERYONE: readonly Role[] = ["guest", "member", "owner"];
const MEMBERS: readonly Role[] = ["member", "owner"];
const OWNER: readonly Role[] = ["owner"];
const SESSIONS_SHOWN = 10;
/** Turns looked through for the one that /stop ended; it is among the newest of its session. */
const TURNS_LOOKED_AT = 10;

export function builtinCommands(deps: BuiltinCommandDeps): readonly Command[] {
  const list: readonly Command[] = [
    {
      name: "help",
      help: "What you can tell the gateway",
      roles: EVERYONE,
      run: async (_args, { role }) => helpWords((deps.all?.() ?? list).filter((command) => mayUse(command, role))),
    },
    ...conversation(deps),
    ...looking(deps),
    ...model(deps),
  ];
  return list;
}

function helpWords(commands: readonly Command[]): string {
  const lines = commands.map(({ name, usage, help }) => `- \`/${name}${usage ? ` ${usage}` : ""}\`: ${help}`);
  return [...lines, "", "To say a line like these to the assistant, begin it with two slashes: `//help`."].join("\n");
}

function conversation({ clock, events, store }: BuiltinCommandDeps): readonly Command[] {
  const startAfresh: Command["run"] = async (_args, { sessionKey }) => {
    await store.sessions.reset(sessionKey, clock.now());
    events.emit("status", { what: "sessions" });
    return "A new conversation begins here. The assistant has forgotten what was said above; you can still read it.";
  };
  return [
    { name: "new", help: "Begin a new conversation here, with an empty memory", roles: EVERYONE, run: startAfresh },
    { name: "reset", help: "The same as /new", roles: EVERYONE, run: startAfresh },
    {
      name: "stop",
      help: "Stop the answer that is being written",
      roles: EVERYONE,
      stopsTurn: true,
      // The turn was ended when this was accepted; the store still knows after a crash.
      async run(_args, { sessionKey, message }) {
        const { items } = await store.turns.list({ sessionKey }, { limit: TURNS_LOOKED_AT });
        const ended = items.some(({ turn }) => turn.outcome === "aborted" && (turn.endedAt ?? 0) >= message.receivedAt);
        return ended ? "Stopped." : "Nothing was running.";
      },
    },
  ];
}

function looking({ clock, store, stats, status, queued }: BuiltinCommandDeps): readonly Command[] {
  return [
    {
      name: "status",
      help: "Model, this conversation, queue, agents",
      roles: MEMBERS,
      run: async (_args, { sessionKey, role }) =>
        statusWords(status(), await store.sessions.get(sessionKey), { notices: role === "owner" }),
    },
    {
      name: "queue",
      help: "What waits in this conversation",
      roles: MEMBERS,
      run: async (_args, { sessionKey, message }) => queueWords(queued(sessionKey, message.address.channel)),
    },
    {
      name: "sessions",
      usage: "[words]",
      help: "The most recent conversations, or those about something",
      roles: OWNER,
      async run(args) {
        const { items, next } = await store.sessions.list(args === "" ? {} : { search: args }, {
          limit: SESSIONS_SHOWN,
        });
        return sessionLines(items, { now: clock.now(), more: next !== undefined });
      },
    },
    {
      name: "context",
      help: "How much of the model's context this conversation uses",
      roles: MEMBERS,
      run: async (_args, { sessionFile }) => contextWords(stats.of(sessionFile)),
    },
    {
      name: "usage",
      help: "Tokens and cost, here and in all",
      roles: MEMBERS,
      async run(_args, { sessionKey }) {
        const [here, all] = await Promise.all([store.sessions.get(sessionKey), store.sessions.total()]);
        return usageWords(here, all);
      },
    },
  ];
}

/** They show and do not change: a conversation has the model of its agent. */
function model({ stats, configured }: BuiltinCommandDeps): readonly Command[] {
  const unknown = "whatever pi chooses; it is known after the next answer";
  const only = (setting: string) =>
    `It cannot be changed from a chat yet. Change \`${setting}\` in the configuration; it holds from the next message on.`;
  return [
    {
      name: "model",
      help: "Which model answers here",
      roles: OWNER,
      run: async (_args, { sessionFile, agentId }) =>
        `Model: ${stats.of(sessionFile)?.model ?? configured(agentId).model ?? unknown}. ${only("agent.model")}`,
    },
    {
      name: "think",
      help: "How much the model thinks before it answers",
      roles: OWNER,
      run: async (_args, { sessionFile, agentId }) =>
        `Thinking: ${stats.of(sessionFile)?.thinking ?? configured(agentId).thinking ?? unknown}. ${only("agent.thinking")}`,
    },
  ];
}
