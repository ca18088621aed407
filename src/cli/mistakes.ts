/** Mistakes in a command line as sentences: what is wrong, the nearest right word, and whose help to read. */
import type { Command } from "commander";

/** For this command and all below it. */
export function explainMistakes(command: Command): void {
  command.configureOutput({ outputError: (text, write) => write(sentence(text, command)) });
  for (const below of command.commands) explainMistakes(below);
}

/** commander's "error: unknown command 'x'\n(Did you mean y?)" as sentences. */
function sentence(text: string, command: Command): string {
  const [what = "", ...rest] = text
    .replace(/^error: /, "")
    .trim()
    .split("\n");
  const first = `${what.charAt(0).toUpperCase()}${what.slice(1)}${/[.?!]$/.test(what) ? "" : "."}`;
  const hints = rest.map((line) => line.replace(/^\((.*)\)$/, "$1"));
  if (what.startsWith("unknown option '--home'") && command.commands.length > 0)
    hints.push(`It comes after the command: ${wordsOf(command)} ${exampleOf(command)} --home DIR.`);
  return `${[first, ...hints, `See: ${wordsOf(command)} --help`].join(" ")}\n`;
}

/** As it is typed: `pi-gw cron add`. */
function wordsOf(command: Command): string {
  return command.parent ? `${wordsOf(command.parent)} ${command.name()}` : command.name();
}

function exampleOf({ parent, commands }: Command): string {
  return parent ? (commands[0]?.name() ?? "") : "status";
}
