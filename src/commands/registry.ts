/** The commands there are, and who may use which. Refuses two of one name. */
import type { Command, Commands } from "../contracts/command.ts";
import type { InboundMessage } from "../contracts/chat.ts";
import type { AgentId, Role } from "../contracts/ids.ts";
import { parseCommand } from "./parse.ts";
import { NO_ANSWER, unknownCommand } from "./unknown-command.ts";

const NAME = /^[a-z]{1,32}$/;

export interface CommandRegistry extends Commands {
  /** Throws when there is one of that name. Disposing takes it away. */
  register(command: Command): Disposable;
  all(): readonly Command[];
}

/** The names of an agent's prompt templates, which people call like commands; pi fills them in. */
export type TemplateNames = (agentId: AgentId) => ReadonlySet<string>;

export function createCommandRegistry(
  list: readonly Command[],
  templates: TemplateNames = () => new Set(),
): CommandRegistry {
  const byName = new Map<string, Command>();
  const add = (command: Command): void => {
    if (!NAME.test(command.name)) throw new Error(`"${command.name}" is not a command name: lower case letters only`);
    if (byName.has(command.name)) throw new Error(`two commands are called ${command.name}`);
    byName.set(command.name, command);
  };
  for (const command of list) add(command);
  const parse = (message: InboundMessage) => parseCommand(message, (name) => byName.has(name));
  const find: Commands["find"] = (message) => {
    if (!byPerson(message)) return null;
    const parsed = parse(message);
    const command = parsed.kind === "command" ? byName.get(parsed.name) : undefined;
    return command && parsed.kind === "command" ? { command, args: parsed.args } : null;
  };
  const findFor: Commands["findFor"] = (message, agentId) => {
    const found = find(message);
    if (found || !byPerson(message)) return found;
    const parsed = parse(message);
    if (parsed.kind === "unaddressed") return { command: NO_ANSWER, args: "" };
    if (parsed.kind !== "unknown") return null;
    const templateNames = templates(agentId);
    if (templateNames.has(parsed.word)) return null;
    return { command: unknownCommand([...byName.values()], [...templateNames]), args: parsed.word };
  };

  return {
    find,
    findFor,
    all: () => [...byName.values()],
    register(command) {
      add(command);
      return {
        [Symbol.dispose]() {
          if (byName.get(command.name) === command) byName.delete(command.name);
        },
      };
    },
    plain(message) {
      if (!byPerson(message)) return message.text;
      const parsed = parse(message);
      return parsed.kind === "text" ? parsed.text : message.text;
    },
    workKind({ message, role, agentId }) {
      const found = findFor(message, agentId);
      if (!found) return "talk";
      if (!mayUse(found.command, role)) return "command";
      if (found.command.needsAgent) return "errand";
      return found.command.stopsTurn ? "stop" : "command";
    },
    list: (role) =>
      [...byName.values()]
        .filter((command) => mayUse(command, role))
        .map(({ name, help, usage }) => ({ name, help, ...(usage === undefined ? {} : { usage }) })),
    async answer({ command, args }, context, signal) {
      if (mayUse(command, context.role)) return command.run(args, context, signal);
      const said = `/${command.name} is for ${people(command.roles)}. /help shows what you can use.`;
      command.refused?.(args, context, said);
      return said;
    },
  };
}

/** Only people give commands: the task of a job stays a task, whatever it begins with. */
function byPerson({ origin = "chat" }: InboundMessage): boolean {
  return origin === "chat";
}

export function mayUse(command: Command, role: Role): boolean {
  return command.roles.includes(role);
}

function people(roles: readonly Role[]): string {
  return roles.includes("member") ? "members and the owner of this gateway" : "the owner of this gateway";
}
