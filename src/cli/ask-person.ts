/** Questions to the person at the terminal. Each opens the terminal anew and closes it again, so that no key stroke is taken from a program in between. */
import { closeSync, openSync, readSync } from "node:fs";
import type { CliWorld } from "./world.ts";

const MAX_LINE_BYTES = 4_096;

/** What was typed, without blanks around it; null: nobody is there, or they ended the input. */
export async function askPerson(world: CliWorld, question: string): Promise<string | null> {
  if (!world.isTerminal) return null;
  world.stderr(question);
  const line = await (world.readLine ?? readTerminalLine)();
  return line === null ? null : line.trim();
}

/** Enter alone is yes. Where nobody is, or the input ends, it is no. */
export async function askYesNo(world: CliWorld, question: string): Promise<boolean> {
  const answer = await askPerson(world, `${question} [Y/n] `);
  return answer !== null && /^(?:y|$)/i.test(answer);
}

/** Enter alone is no. */
export async function askNoYes(world: CliWorld, question: string): Promise<boolean> {
  return /^y/i.test((await askPerson(world, `${question} [y/N] `)) ?? "");
}

/** Not shown while it is typed. */
export async function askSecret(world: CliWorld, question: string): Promise<string | null> {
  if (world.readLine) return askPerson(world, question);
  const { askHidden } = await import("./backup/passphrase.ts");
  return (await askHidden(world, question)).reveal().trim();
}

/** The terminal gives a whole line at once. Nothing else of a command goes on meanwhile. */
async function readTerminalLine(): Promise<string | null> {
  const terminal = openSync("/dev/tty", "r");
  try {
    const buffer = Buffer.alloc(MAX_LINE_BYTES);
    const bytes = readSync(terminal, buffer);
    return bytes === 0 ? null : buffer.toString("utf8", 0, bytes);
  } finally {
    closeSync(terminal);
  }
}
