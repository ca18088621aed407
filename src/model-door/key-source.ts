/** Where a provider's key is written: in the configuration, in a file, or told by a program such as a password manager. Read by the gateway alone. */
import { isAbsolute, join } from "node:path";
import type { KeySource } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";

const COMMAND_MS = 20_000;
const MAX_KEY_BYTES = 64 * 1024;

interface SourceDeps {
  readonly clock: Clock;
  readonly userHome: string;
}

/** Rejects with a sentence that does not hold the key. */
export async function readKey(deps: SourceDeps, source: KeySource): Promise<string> {
  const { value, file, command } = source;
  if (value) return value.reveal();
  const text = file === undefined ? await told(deps, command ?? []) : await written(deps, file);
  const key = text.trim();
  if (key === "" || /\s/.test(key)) throw unusable(`${nameOf(source)} does not hold exactly one key`);
  return key;
}

/** It can be read again, and may say something else then. */
export function isRefreshable({ value }: KeySource): boolean {
  return value === undefined;
}

function nameOf({ file, command }: KeySource): string {
  return file === undefined ? `what ${command?.[0] ?? "the program"} said` : file;
}

async function written({ userHome }: SourceDeps, file: string): Promise<string> {
  const path = file.startsWith("~/") ? join(userHome, file.slice(2)) : file;
  if (!isAbsolute(path)) throw unusable(`${file} is not an absolute path`);
  const found = Bun.file(path);
  const size = (await found.exists()) ? found.size : -1;
  if (size < 0) throw unusable(`there is no file ${path}`);
  if (size > MAX_KEY_BYTES) throw unusable(`${path} is too large for a key`);
  return found.text();
}

async function told({ clock }: SourceDeps, command: readonly string[]): Promise<string> {
  using limit = clock.deadline(COMMAND_MS, () => new Error("too late"));
  const child = Bun.spawn([...command], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore", // it may repeat what it was asked for
    signal: limit.signal,
    maxBuffer: MAX_KEY_BYTES,
  });
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (code !== 0) throw unusable(`${command[0]} ended with ${child.signalCode ?? `code ${code}`}`);
  return text;
}

function unusable(why: string): GatewayError {
  return new GatewayError("provider_auth", `a key could not be read: ${why}`);
}
