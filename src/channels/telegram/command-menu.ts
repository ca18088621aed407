/** The menu behind "/" in Telegram: the gateway's own commands, for everybody, and all of them for owners in their own chat. */
import type { PlatformDeps } from "../../contracts/channels/platform.ts";
import type { Role } from "../../contracts/ids.ts";
import type { BotApi } from "./api/bot-api.ts";
import { Fault } from "./api/faults.ts";
import type { Arrived } from "./inbound/arrived.ts";

interface CommandMenu {
  publish(): Promise<void>;
  /** The first time an owner writes in this process. */
  offer(arrived: Arrived, role: Role): Promise<void>;
}

const NAME = /^[a-z0-9_]{1,32}$/;
const MAX_COMMANDS = 100;
const MAX_HELP_CHARS = 256;
const MAX_CHATS = 1_000;

export function createCommandMenu(
  deps: { readonly api: BotApi; readonly commands: PlatformDeps["commands"] },
  signal: AbortSignal,
): CommandMenu {
  const offered = new Set<string>();
  const listed = (role: Role) =>
    deps
      .commands(role)
      .filter(({ name, help }) => NAME.test(name) && help.trim() !== "")
      .slice(0, MAX_COMMANDS)
      .map(({ name, help }) => ({ command: name, description: help.slice(0, MAX_HELP_CHARS) }));
  const set = async (role: Role, chat?: string): Promise<void> => {
    const scope = chat === undefined ? {} : { scope: { type: "chat" as const, chat_id: Number(chat) } };
    await deps.api.call("setMyCommands", { commands: listed(role), ...scope }, signal).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error; // without a menu the commands work all the same
    });
  };
  return {
    publish: () => set("member"),
    async offer({ address, scope }, role) {
      if (role !== "owner" || scope !== "dm" || offered.has(address.chat) || offered.size >= MAX_CHATS) return;
      offered.add(address.chat);
      await set("owner", address.chat);
    },
  };
}
