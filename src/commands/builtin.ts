/** The commands that ship with the gateway. Each may run again after a crash: they look, or they do what is done already. */
import type { Budget } from "../contracts/budget.ts";
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { Command, CommandContext } from "../contracts/command.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import { type Queue } from "../contracts/queue.ts";
import { QUEUE_MODES } from "../contracts/session-settings.ts";
import type { Store } from "../contracts/store.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import type { Approvals } from "../contracts/tools/approval.ts";
import { approveCommand } from "./approve-command.ts";
import { timezoneCommand } from "./timezone-command.ts";
import { remindCommand } from "./remind-command.ts";
import { cronCommand, type CronCommandDeps } from "./cron-command.ts";
import { type ConversationCommandDeps, conversationCommands } from "./conversation-commands.ts";
import { type ModelCommandDeps, modelCommands } from "./model-commands.ts";
import { mayUse } from "./registry.ts";
import { pairCommand } from "./pair-command.ts";
import { roleCommand, type RoleCommandDeps } from "./role-command.ts";
import { historyCommand } from "./history-command.ts";
import { toolCommand, type ToolCommandDeps } from "./tool-command.ts";
import { contextText, queueText, sessionLines, statusText, unknownModeText, usageText } from "./replies.ts";
import { EVERYONE, MEMBERS, OWNERS } from "./roles.ts";

export interface BuiltinCommandDeps
  extends ModelCommandDeps, ConversationCommandDeps, RoleCommandDeps, CronCommandDeps {
  readonly store: Pick<Store, "sessions" | "turns" | "conversations" | "toolCalls">;
  readonly people: PersonTimes;
  status(): GatewayStatus;
  readonly budget: Pick<Budget, "used" | "limits">;
  readonly queued: Pick<Queue, "session" | "choose">;
  /** Every command there is, plugins' included; absent: those of this list. */
  all?(): readonly Command[];
  readonly pairing: Pick<Pairing, "approve" | "list">;
  readonly tools: ToolCommandDeps["tools"];
  readonly approvals: Pick<Approvals, "pending" | "decide">;
}

const SESSIONS_SHOWN = 10;
/** Turns looked through for the one that /stop ended; it is among the newest of its session. */
const TURNS_LOOKED_AT = 10;

export function builtinCommands(deps: BuiltinCommandDeps): readonly Command[] {
  const list: readonly Command[] = [
    {
      name: "help",
      help: "What you can tell the gateway",
      roles: EVERYONE,
      run: async (_args, { role }) => helpText((deps.all?.() ?? list).filter((command) => mayUse(command, role))),
    },
    {
      name: "start",
      help: "A greeting, and where to begin",
      roles: EVERYONE,
      // Telegram sends it when somebody opens the bot for the first time.
      run: async () => "Hello. Write a message, and the assistant answers. `/help` lists the commands.",
    },
    ...turnCommands(deps),
    ...statusCommands(deps),
    ...modelCommands(deps),
    ...conversationCommands(deps),
    cronCommand(deps),
    remindCommand(deps),
    timezoneCommand(deps),
    ...toolCommands(deps),
    approveCommand(deps.approvals),
    pairCommand(deps.pairing),
    roleCommand(deps, (role) => list.filter((command) => mayUse(command, role)).map(({ name }) => name)),
  ];
  return list;
}

function toolCommands(deps: BuiltinCommandDeps): readonly Command[] {
  const tool = toolCommand(deps);
  const list = (context: CommandContext, signal: AbortSignal) => tool.run("", context, signal);
  return [tool, historyCommand({ toolCalls: deps.store.toolCalls, list })];
}

function helpText(commands: readonly Command[]): string {
  const lines = commands.map(({ name, usage, help }) => `- \`/${name}${usage ? ` ${usage}` : ""}\`: ${help}`);
  return [...lines, "", "To say a line like these to the assistant, begin it with two slashes: `//help`."].join("\n");
}

function turnCommands({ clock, events, store }: BuiltinCommandDeps): readonly Command[] {
  const startAfresh: Command["run"] = async (_args, { sessionKey, turnId }) => {
    await store.sessions.reset(sessionKey, clock.now(), turnId);
    events.emit("status", { what: "sessions" });
    return "A new conversation begins here. The assistant has forgotten what was said above; you can still read it, and `/resume` goes back to it.";
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

function statusCommands({ clock, store, stats, status, queued, budget }: BuiltinCommandDeps): readonly Command[] {
  return [
    {
      name: "status",
      help: "Model, this conversation, queue, agents",
      roles: MEMBERS,
      run: async (_args, { sessionKey, role }) =>
        statusText(status(), await store.sessions.get(sessionKey), { notices: role === "owner" }),
    },
    {
      name: "queue",
      usage: `[${QUEUE_MODES.join("|")}|default]`,
      help: "What waits in this conversation, and what happens to messages that arrive during an answer",
      roles: MEMBERS,
      async run(args, { sessionKey, message }) {
        const wanted = args.toLowerCase();
        const mode = QUEUE_MODES.find((one) => one === wanted) ?? null;
        if (wanted !== "" && wanted !== "default" && mode === null) return unknownModeText(args);
        if (wanted !== "") await queued.choose(sessionKey, mode);
        return queueText(queued.session(sessionKey, message.address.channel));
      },
    },
    {
      name: "sessions",
      usage: "[words]",
      help: "The most recent conversations, or those about something",
      roles: OWNERS,
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
      async run(_args, { sessionFile }) {
        await stats.settled(sessionFile); // the answer before may be a moment old
        return contextText(stats.of(sessionFile));
      },
    },
    {
      name: "usage",
      help: "Tokens and cost: here, yours, and for owners everybody's",
      roles: EVERYONE,
      async run(_args, { sessionKey, role, message }) {
        const here = await store.sessions.get(sessionKey);
        const mine = budget.used(message.sender.principal);
        if (role !== "owner") return usageText({ here, mine });
        const all = { ever: await store.sessions.total(), used: budget.used(), limits: budget.limits() };
        return usageText({ here, mine, all });
      },
    },
  ];
}
