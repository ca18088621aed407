/** The passphrase of a backup: from a file, from the configuration, or asked on the terminal without showing it. Never printed. */
import { stdin } from "node:process";
import { GatewayError } from "../../contracts/errors.ts";
import { type Secret, secret } from "../../kit/secret.ts";
import { readSmall } from "../state-directory.ts";
import type { CliWorld } from "../world.ts";

/** For a new backup: whoever has the file may guess for years. */
const MIN_CHARS = 12;
const MAX_CHARS = 1_024;
const CTRL_C = 0x03;
const CTRL_D = 0x04;
const BACKSPACES: ReadonlySet<number> = new Set([0x08, 0x7f]);
const ENDS: ReadonlySet<number> = new Set([0x0a, 0x0d, CTRL_D]);

interface Asked {
  readonly file: string | undefined;
  /** From the configuration, which decides when no file is named. */
  readonly configured: Secret | undefined;
  /** It is asked for twice, and must not be short. */
  readonly isNew: boolean;
}

export async function passphraseOf(world: CliWorld, { file, configured, isNew }: Asked): Promise<Secret> {
  const found = file === undefined ? configured : await fromFile(file);
  const given = found ?? (await askTwice(world, isNew));
  const length = given.reveal().length;
  if (isNew && length < MIN_CHARS)
    throw refused(`The passphrase is too short: it needs at least ${MIN_CHARS} characters.`);
  return given;
}

async function fromFile(file: string): Promise<Secret> {
  const [line = ""] = ((await readSmall(file)) ?? "").split(/\r?\n/);
  if (line === "") throw refused(`There is no passphrase in ${file}: its first line has to be one.`);
  return secret(line);
}

async function askTwice(world: CliWorld, isNew: boolean): Promise<Secret> {
  const first = await askHidden(world, "Passphrase: ");
  if (isNew && (await askHidden(world, "The same again: ")).reveal() !== first.reveal())
    throw refused("The two passphrases are not the same.");
  return first;
}

export async function askHidden(world: CliWorld, prompt: string): Promise<Secret> {
  if (!stdin.isTTY) throw refused("A passphrase is needed. Name a file that holds it with --passphrase-file.");
  stdin.setRawMode(true); // before the question: without this the terminal shows what is typed
  try {
    world.stderr(prompt);
    return secret(await readHidden());
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    world.stderr("\n");
  }
}

async function readHidden(): Promise<string> {
  const typed: number[] = [];
  for (;;) {
    const chunk = await nextChunk();
    for (const byte of chunk) {
      if (byte === CTRL_C) throw refused("Cancelled.");
      if (ENDS.has(byte)) return Buffer.from(typed).toString("utf8");
      if (BACKSPACES.has(byte)) typed.pop();
      else if (typed.length < MAX_CHARS) typed.push(byte);
    }
  }
}

function nextChunk(): Promise<Uint8Array> {
  return new Promise((resolve) => {
    stdin.once("data", resolve);
    stdin.resume();
  });
}

function refused(say: string): GatewayError {
  return new GatewayError("bad_request", "no passphrase", { say });
}
