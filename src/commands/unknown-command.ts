/** Answers to messages that look like commands and are none, so that no model is paid for a slip of the finger. */
import type { Command } from "../contracts/command.ts";
import { nearest } from "../kit/nearest.ts";
import { EVERYONE } from "./roles.ts";

const MAX_SHOWN_CHARS = 40;

/** For a slash in a group that was not meant for the gateway. */
export const NO_ANSWER: Command = { name: "", help: "", roles: EVERYONE, run: async () => "" };

/** Its argument is the word after the slash. Names that the role cannot use are not suggested. */
export function unknownCommand(commands: readonly Command[], templateNames: readonly string[]): Command {
  return {
    name: "",
    help: "",
    roles: EVERYONE,
    async run(word, { role }) {
      const usable = commands.filter(({ roles }) => roles.includes(role)).map(({ name }) => name);
      const meant = nearest(word, [...usable, ...templateNames]);
      const shown = word.length > MAX_SHOWN_CHARS ? `${word.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…` : word;
      return [
        `There is no command \`/${shown}\`.`,
        ...(meant === null ? [] : [`Did you mean \`/${meant}\`?`]),
        "`/help` lists the commands.",
        "To say this to the assistant, begin it with two slashes.",
      ].join(" ");
    },
  };
}
