/** The gateway's commands as Discord's slash commands, registered again only when they have changed. */
import type { API } from "@discordjs/core";
import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  type RESTPutAPIApplicationCommandsJSONBody,
} from "discord-api-types/v10";
import type { PlatformDeps } from "../../../contracts/channels/platform.ts";
import type { Log } from "../../../kit/log.ts";
import type { AccountState } from "../../kit/index.ts";

interface MenuDeps {
  readonly api: API;
  readonly log: Log;
  readonly facts: AccountState;
  readonly commands: PlatformDeps["commands"];
}

/** The one argument: what a person would write after the command. */
export const ARGUMENT = "text";
const CHAT_INPUT = ApplicationCommandType.ChatInput;
const STRING = ApplicationCommandOptionType.String;
const MAX_COMMANDS = 100;
const MAX_DESCRIPTION_CHARS = 100;
const MAX_ARGUMENT_CHARS = 1_500;
const NAME = /^[\p{Ll}\p{N}_-]{1,32}$/u;
const KEY = "menu";

type MenuCommand = ReturnType<PlatformDeps["commands"]>[number];

export function menuOf(commands: readonly MenuCommand[]): RESTPutAPIApplicationCommandsJSONBody {
  return commands
    .filter(({ name }) => NAME.test(name))
    .slice(0, MAX_COMMANDS)
    .map(({ name, help, usage }) => ({
      name,
      type: CHAT_INPUT,
      description: help.slice(0, MAX_DESCRIPTION_CHARS) || name,
      ...(usage === undefined ? {} : { options: [optionOf(usage)] }),
    }));
}

function optionOf(usage: string) {
  const description = usage.slice(0, MAX_DESCRIPTION_CHARS) || ARGUMENT;
  return {
    type: STRING as ApplicationCommandOptionType.String,
    name: ARGUMENT,
    description,
    required: false,
    max_length: MAX_ARGUMENT_CHARS,
  };
}

/** Who may use which one is decided when it is used. */
export async function registerMenu(deps: MenuDeps, applicationId: string, signal: AbortSignal): Promise<void> {
  const menu = menuOf(deps.commands("owner"));
  const digest = new Bun.CryptoHasher("sha256").update(JSON.stringify([applicationId, menu])).digest("hex");
  if ((await deps.facts.get(KEY)) === digest) return;
  await deps.api.applicationCommands.bulkOverwriteGlobalCommands(applicationId, menu, { signal });
  await deps.facts.put(KEY, digest);
  deps.log.info("Discord commands registered", { application: applicationId });
}
