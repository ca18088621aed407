/**
 * Starts the new version on a copy of the state directory, while the old one goes on serving: it reads the settings, brings the copy of the database
 * up to date, opens its port on loopback and answers. It answers no message, runs no job and opens no channel.
 */
import { copyFile, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { childEnvironment } from "../../config/environment/index.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { parseJson } from "../../kit/json.ts";
import { snapshotDatabase } from "../../store/index.ts";
import { versionRoot } from "../../update/index.ts";
import { type Fields, recordOf, textOf } from "../read-value.ts";
import { readSmall } from "../state-directory.ts";
import type { CliWorld } from "../world.ts";

const REHEARSAL_MS = 10 * 60_000;
const MAX_COPIED_BYTES = 1024 * 1024;
const MAX_SAID_CHARS = 2_000;
/** The database is copied by itself, and the rest belongs to the running process. */
const NOT_COPIED = /^(?:gateway\.(?:db.*|json|pid)|lock\.db|.*\.new)$/;
const PRIVATE_FOLDER = 0o700;

interface Rehearsal {
  readonly home: string;
  /** Of versions. */
  readonly folder: string;
  readonly version: string;
  /** The configuration file as given on the command line. */
  readonly config: string | undefined;
}

/** Throws `update_failed` with what the new version said. */
export async function rehearse(world: CliWorld, { home, folder, version, config }: Rehearsal): Promise<void> {
  const copy = join(folder, ".rehearsal");
  await rm(copy, { recursive: true, force: true });
  await mkdir(copy, { recursive: true, mode: PRIVATE_FOLDER });
  try {
    using limit = world.clock.deadline(REHEARSAL_MS, () => refused(version, "it took longer than ten minutes"));
    await copyState(home, copy, limit.signal);
    const launcher = join(versionRoot(folder, version), "bin", "pi-gw");
    const where = ["--home", copy, "--port", "0", ...(config === undefined ? [] : ["--config", config])];
    const child = Bun.spawn(["/bin/sh", launcher, "start", "--rehearse", "--json", ...where], {
      cwd: world.cwd,
      env: childEnvironment(await serviceVariables(home)),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const end = (): void => child.kill("SIGKILL");
    limit.signal.addEventListener("abort", end, { once: true });
    try {
      const problem = await problemOf(child, limit.signal);
      limit.signal.throwIfAborted();
      if (problem !== null) throw refused(version, problem);
    } finally {
      end();
    }
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Null: it started, answered and stopped. */
async function problemOf(child: Bun.Subprocess<"ignore", "pipe", "pipe">, signal: AbortSignal): Promise<string | null> {
  const said = new Response(child.stderr).text();
  const url = await readyUrl(child.stdout);
  if (url === null) return lastSentence(await said) ?? `it ended with ${await child.exited}`;
  const health = await fetch(`${url}/health`, { signal }).catch(() => null); // its status says what is wrong
  if (!health?.ok) return `its health check answered ${health?.status ?? "nothing"}`;
  child.kill("SIGTERM");
  const code = await child.exited;
  return code === 0 ? null : `it ended with ${code} when it was told to stop`;
}

/** Null: it ended before it was ready. */
async function readyUrl(stdout: ReadableStream<Uint8Array>): Promise<string | null> {
  let text = "";
  for await (const chunk of stdout) {
    text += new TextDecoder().decode(chunk);
    const [first = "", ...rest] = text.split("\n");
    if (rest.length > 0) return textOf(recordIn(first)["url"]) || null;
  }
  return null;
}

/** Of what it wrote to stderr with `--json`: the last line is the reason of its end. */
function lastSentence(said: string): string | null {
  const last = said.trim().split("\n").at(-1) ?? "";
  return (textOf(recordIn(last)["message"]) || last).slice(0, MAX_SAID_CHARS) || null;
}

function recordIn(line: string): Fields {
  const parsed = parseJson(line, { maxChars: MAX_COPIED_BYTES, maxDepth: 20 });
  return parsed.ok ? recordOf(parsed.value) : {};
}

/** The database and the small files beside it: settings, keys, tokens. */
async function copyState(home: string, copy: string, signal: AbortSignal): Promise<void> {
  await snapshotDatabase(home, join(copy, "gateway.db"), signal);
  for (const entry of await readdir(home, { withFileTypes: true })) {
    if (!entry.isFile() || NOT_COPIED.test(entry.name)) continue;
    const { size } = await stat(join(home, entry.name));
    if (size <= MAX_COPIED_BYTES) await copyFile(join(home, entry.name), join(copy, entry.name));
  }
}

/** Of the service, which this shell does not have; the settings may name them. */
async function serviceVariables(home: string): Promise<Readonly<Record<string, string>>> {
  const text = (await readSmall(join(home, "service.env"), MAX_COPIED_BYTES)) ?? "";
  const pairs = text.split("\n").flatMap((line) => {
    const [, name = "", value = ""] = /^\s*([A-Za-z_]\w*)=(.*?)\s*$/.exec(line) ?? [];
    return name === "" ? [] : [[name, value.replace(/^(["'])(.*)\1$/, "$2")] as const];
  });
  return Object.fromEntries(pairs);
}

function refused(version: string, why: string): GatewayError {
  return new GatewayError("update_failed", "the new version did not start on a copy", {
    say: `pi-gateway ${version} was tried on a copy of the state directory, and did not start: ${why}\nNothing was changed.`,
  });
}
