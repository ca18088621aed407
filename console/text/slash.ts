/** Which slash commands fit what is being written. Pure; the gateway alone decides what a command is and who may use it. */
import type { WireMethods } from "../../src/contracts/wire.ts";

export type SlashCommand = WireMethods["commands.list"]["result"]["items"][number];

const MAX_SHOWN = 8;
/** A name that is still being written. */
const NAME = /^\/([\w-]*)$/;
/** A whole name, and perhaps what follows it. */
const NAMED = /^\/([\w-]+)(?:\s|$)/;

type SlashHelp =
  /** Those that can still be meant, best first. */
  | { readonly kind: "choose"; readonly items: readonly SlashCommand[] }
  /** The name is whole: what it does and takes. */
  | { readonly kind: "known"; readonly command: SlashCommand }
  | { readonly kind: "unknown"; readonly name: string };

/** Null: it is no command. */
export function slashHelp(commands: readonly SlashCommand[], text: string): SlashHelp | null {
  const begun = NAME.exec(text)?.[1]?.toLowerCase();
  if (begun !== undefined) {
    const items = fitting(commands, begun);
    return items.length > 0 ? { kind: "choose", items } : { kind: "unknown", name: begun };
  }
  const name = NAMED.exec(text)?.[1]?.toLowerCase();
  if (name === undefined) return null;
  const command = commands.find((one) => one.name === name);
  return command ? { kind: "known", command } : { kind: "unknown", name };
}

/** Names that begin like this, then those that have it somewhere. */
function fitting(commands: readonly SlashCommand[], begun: string): readonly SlashCommand[] {
  const first = commands.filter(({ name }) => name.startsWith(begun));
  const other = commands.filter(({ name }) => begun !== "" && !name.startsWith(begun) && name.includes(begun));
  return [...first, ...other].slice(0, MAX_SHOWN);
}
