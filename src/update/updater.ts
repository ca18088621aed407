/**
 * Updates from inside of a gateway: runs the same `pi-gw update` that a person would, in a process of its own, because the gateway itself is
 * replaced meanwhile. What it says goes to a file, which the next version can read as well.
 */
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type { KnownVersion, Updater } from "../contracts/update.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import { parseJson } from "../kit/json.ts";
import type { Log } from "../kit/log.ts";
import { versionFiles } from "./version-files.ts";
import { isInCheckout, whyNot } from "./why-not.ts";

interface UpdaterOptions {
  readonly home: string;
  readonly version: string;
  /** As the launcher says: PI_GATEWAY_LAUNCHER. */
  readonly launcher: string | undefined;
  /** The program that runs. */
  readonly main: string;
  /** The configuration file, if there is one. */
  config(): string | null;
}

const LOG_NAME = "update.log";
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const MAX_STEPS = 50;
const MAX_SAID_CHARS = 2_000;
/** npm itself gives up after a minute. */
const LOOK_MS = 90_000;

export function createUpdater(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { home, version, launcher, main, config }: UpdaterOptions,
): Updater {
  const files = versionFiles(home);
  const said = join(files.folder, LOG_NAME);
  const isCheckout = launcher === undefined && isInCheckout(main, process.execPath);
  const because = whyNot({ launcher, main, isCheckout });
  let newest: KnownVersion | null = null;
  let isRunning = false;
  let hasFailed = false;
  const command = (...args: readonly string[]): string[] => {
    if (because !== null || launcher === undefined)
      throw new GatewayError("bad_request", "not updated from inside", { say: because ?? "" });
    return ["/bin/sh", launcher, "update", "--home", home, ...args];
  };
  return {
    report: () => ({ version, because, newest, isRunning, steps: stepsIn(said), hasFailed, last: files.outcome() }),
    async look(signal) {
      newest = { ...(await newestOf(clock, command("--check", "--json"), signal)), at: clock.now() };
      return newest;
    },
    start() {
      if (isRunning)
        throw new GatewayError("conflict", "an update is at work", { say: "An update is at work already." });
      const file = config();
      const parts = command(...(file === null ? [] : ["--config", file]));
      mkdirSync(files.folder, { recursive: true, mode: PRIVATE_FOLDER });
      const output = openSync(said, "w", PRIVATE_FILE);
      try {
        // Its own session: what ends the gateway does not end it. It inherits the variables that the settings may name.
        const child = Bun.spawn(parts, { cwd: home, stdio: ["ignore", output, output], detached: true });
        child.unref();
        isRunning = true;
        hasFailed = false;
        log.info("update begins", { pid: child.pid });
        background(log, "end of an update not noticed", async () => {
          const code = await child.exited;
          isRunning = false;
          hasFailed = code !== 0;
          log.info("update command ended", { code });
        });
      } finally {
        closeSync(output);
      }
    },
  };
}

/** The file is written by our own command; it has a limit all the same. */
function stepsIn(file: string): readonly string[] {
  try {
    const lines = readFileSync(file, "utf8")
      .slice(-MAX_STEPS * MAX_SAID_CHARS)
      .split("\n");
    return lines.filter((line) => line.trim() !== "").slice(-MAX_STEPS);
  } catch {
    return []; // nothing was ever updated from here
  }
}

async function newestOf(
  clock: Clock,
  command: string[],
  signal: AbortSignal,
): Promise<Pick<KnownVersion, "version" | "isNewer">> {
  using limit = clock.deadline(LOOK_MS, () => new Error("too slow"));
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "pipe"] });
  const end = (): void => child.kill("SIGKILL");
  const either = AbortSignal.any([signal, limit.signal]);
  either.addEventListener("abort", end, { once: true });
  if (either.aborted) end(); // an event that was before is not told
  const [output, problem] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  either.removeEventListener("abort", end);
  if (either.aborted) throw failed("The registry did not answer in time.");
  const { newest, newer } = fieldsOf(output);
  if (typeof newest === "string") return { version: newest, isNewer: newer === true };
  const message = fieldsOf(problem)["message"];
  throw failed((typeof message === "string" ? message : problem.trim()).slice(0, MAX_SAID_CHARS));
}

/** Of the last line, which is the answer. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  const parsed = parseJson(text.trim().split("\n").at(-1) ?? "", { maxChars: MAX_SAID_CHARS * 4, maxDepth: 4 });
  return parsed.ok && typeof parsed.value === "object" && parsed.value !== null ? { ...parsed.value } : {};
}

function failed(say: string): GatewayError {
  return new GatewayError("update_failed", "could not look for a newer version", {
    say: say === "" ? "It could not be found out whether there is a newer version." : say,
  });
}
