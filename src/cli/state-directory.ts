/** Finds the state directory, and through it the gateway that runs on it. Reads two small files and never prints the token. */
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import { parseJson } from "../kit/json.ts";
import { type Secret, secret } from "../kit/secret.ts";
import { numberOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld } from "./world.ts";

export interface RunningGateway {
  readonly home: string;
  readonly pid: number;
  readonly url: string;
  /** Another moment, another run of the gateway. */
  readonly startedAt: number;
  /** By which an update can put another version in its place; null: it was started in another way. */
  readonly launcher: string | null;
  readonly token: Secret;
}

const MAX_FILE_BYTES = 64 * 1024;
export const MAX_CONFIG_BYTES = 1024 * 1024 + 1; // one more than is allowed, so that a longer one is noticed

/** The same rule as the configuration's, kept apart because loading that module would double the time of a small command. */
export function homeOf(
  flag: string | undefined,
  environment: Pick<CliWorld["environment"], "home" | "userHome">,
): string {
  const wanted = flag || environment.home || join(environment.userHome, ".pi-gateway");
  if (wanted === "~") return resolve(environment.userHome);
  return resolve(wanted.startsWith("~/") ? join(environment.userHome, wanted.slice(2)) : wanted);
}

/** Throws the sentence a person needs when nothing runs there. Whether it still answers is for the first request to find out. */
export async function findGateway(
  world: Pick<CliWorld, "environment">,
  flag: string | undefined,
): Promise<RunningGateway> {
  const home = homeOf(flag, world.environment);
  const note = await readGatewayNote(home);
  const token = (await readSmall(join(home, "token")))?.trim();
  if (!note || !token) throw notRunning(home);
  return { home, ...note, token: secret(token) };
}

/** What the running gateway wrote about itself; null when there is none or it cannot be understood. */
async function readGatewayNote(home: string): Promise<Omit<RunningGateway, "home" | "token"> | null> {
  const text = await readSmall(join(home, "gateway.json"));
  if (text === null) return null;
  const parsed = parseJson(text, { maxChars: MAX_FILE_BYTES, maxDepth: 8 });
  const note = parsed.ok ? recordOf(parsed.value) : {};
  const url = textOf(note["url"]);
  const pid = numberOf(note["pid"]);
  if (!/^https?:\/\/[^\s/]+$/.test(url) || pid <= 0) return null;
  return { pid, url, startedAt: numberOf(note["startedAt"]), launcher: textOf(note["launcher"]) || null };
}

export function notRunning(home: string): GatewayError {
  return new GatewayError("not_found", "no gateway is running", {
    fields: { home },
    say: `No gateway is running on ${home}. Start one with: npm start`,
  });
}

/** The first `maxBytes` at most; null when it is not there or not readable. */
export async function readSmall(path: string, maxBytes = MAX_FILE_BYTES): Promise<string | null> {
  try {
    await using file = await open(path, "r");
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return null; // to the caller it is the same as not there
  }
}
