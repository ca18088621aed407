/** Process entry: arguments, signals, exit code. Nothing else. */
import { createLastingOutput, isTerminal, runCli } from "./cli/index.ts";
import { readEnvironment } from "./config/environment/index.ts";
import { sourceAssets } from "./assets.ts";
import { systemClock } from "./kit/clock.ts";
import { compileLater } from "./kit/compile-threshold.ts";
import { systemIds } from "./kit/ids.ts";
import type { Assets } from "./serve.ts";
import { PI_VERSION, VERSION } from "./version.ts";

/** Everything the gateway writes is for its owner only. */
const PRIVATE_UMASK = 0o077;
const SAME_REQUEST_MS = 1_000;
/** What supervisors take for a failure that passes. */
const START_AGAIN = 75;
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function main(argv: readonly string[], assets: Assets): Promise<number> {
  process.umask(PRIVATE_UMASK);
  const variables = process.env;
  const environment = readEnvironment(variables);
  const world = {
    environment,
    cwd: process.cwd(),
    version: VERSION,
    piVersion: PI_VERSION,
    isTerminal: isTerminal("stdout"),
    assets,
    stdin: { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() }, // only opened by who reads it
    stdout: argv[0] === "start" ? createLastingOutput() : createOutput(),
    stderr: (text: string) => void process.stderr.write(text),
    clock: systemClock,
    ids: systemIds,
    exit,
  };
  const code = await runCli([...argv], {
    ...world,
    start: async (options) => {
      compileLater();
      const { serve } = await import("./serve.ts"); // here, because the other commands must not pay for the whole gateway
      const end = await serve({ ...world, isTerminal: isTerminal("stderr"), stopAsked: stopAsked() }, options);
      return end.kind === "hand over" ? handOver(end, argv, variables) : 0;
    },
  });
  // everything has stopped, or failed; what a plugin left running would keep the process, and so would a connection to a server that is out of reach
  if (argv[0] === "start") exit(code);
  return code;
}

/** The launcher takes the place of this process and starts the version that an update chose. Where it cannot, the supervisor starts it. */
async function handOver(
  { launcher, port }: { readonly launcher: string; readonly port: number | null },
  argv: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const { becomeProgram } = await import("./kit/become-program.ts");
  const why = becomeProgram(["/bin/sh", launcher, ...withPort(argv, port)], variables);
  process.stderr.write(`The new version is started by the next start of the gateway (${why}).\n`);
  return START_AGAIN;
}

/** In the place of the port that was asked for: 0 would pick another one. */
function withPort(argv: readonly string[], port: number | null): readonly string[] {
  if (port === null) return argv;
  const others = argv.filter((word, at) => !/^--port(?:=|$)/.test(word) && argv[at - 1] !== "--port");
  return [...others, "--port", String(port)];
}

/** When all that was written is out. */
function exit(code: number): void {
  process.stderr.write("", () => process.stdout.write("", () => process.exit(code)));
}

/** The reader of the output may be gone (`pi-gw logs -f | head`): a command then ends silently. */
function createOutput(): (text: string) => void {
  let heard = false; // the stream is opened by who writes
  return (text) => {
    if (!heard)
      process.stdout.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "EPIPE") process.stderr.write(`The output could not be written: ${error.message}\n`);
        process.exit(error.code === "EPIPE" ? 0 : 1);
      });
    heard = true;
    process.stdout.write(text);
  };
}

/** The first signal asks for a clean stop. A later one ends the process at once: later, because a group and a launcher may both pass one on. */
function stopAsked(): Promise<string> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    for (const signal of STOP_SIGNALS) {
      process.on(signal, () => {
        const now = systemClock.elapsed();
        if (askedAt !== null && now - askedAt > SAME_REQUEST_MS) process.exit(1);
        askedAt ??= now;
        resolve(signal);
      });
    }
  });
}

if (import.meta.main) {
  process.exitCode = await main(process.argv.slice(2), sourceAssets());
}
