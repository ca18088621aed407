/** A gateway that somebody starts again when it ends, as a service manager does. With `notify` the way systemd does it, without a shell above it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/kit/clock.ts";

const AGAIN_MS = 100;
/** What a service manager does not start again: it was told to stop. */
const ENDED_WELL = 0;
const NEVER = new AbortController().signal;

interface SupervisedOptions {
  readonly command: readonly string[];
  readonly home: string;
  readonly path: string;
  /** Asked before each start. */
  notifySocket(): string | undefined;
}

export interface Supervised extends AsyncDisposable {
  /** kill -9 of the process that was started, or of the one that serves, which a shell may have started. */
  kill(which: "started" | "serving"): void;
  starts(): number;
  /** What it wrote lately, for whoever looks into a failure. */
  said(): string;
}

const MAX_SAID_CHARS = 20_000;

export function supervise({ command, home, path, notifySocket }: SupervisedOptions): Supervised {
  let said = "";
  let starts = 0;
  let isOver = false;
  let child: Bun.Subprocess<"ignore", "ignore", "pipe"> | null = null;
  const start = (): Bun.Subprocess<"ignore", "ignore", "pipe"> => {
    const socket = notifySocket();
    const { HOME = "", PATH = "" } = process.env;
    const env = { HOME, PATH: `${path}:${PATH}`, ...(socket === undefined ? {} : { NOTIFY_SOCKET: socket }) };
    starts++;
    return Bun.spawn([...command], { cwd: home, env, stdio: ["ignore", "ignore", "pipe"] });
  };
  const running = (async () => {
    while (!isOver) {
      child = start();
      for await (const chunk of child.stderr) said = `${said}${new TextDecoder().decode(chunk)}`.slice(-MAX_SAID_CHARS);
      const code = await child.exited;
      if (code === ENDED_WELL) return;
      await systemClock.sleep(AGAIN_MS, NEVER);
    }
  })();
  return {
    kill(which) {
      const pid = which === "started" ? child?.pid : servingPid(home);
      if (pid !== undefined) killHard(pid);
    },
    starts: () => starts,
    said: () => said,
    async [Symbol.asyncDispose]() {
      isOver = true;
      child?.kill("SIGTERM");
      await running;
    },
  };
}

function servingPid(home: string): number | undefined {
  try {
    return Number(readFileSync(join(home, "gateway.pid"), "utf8")) || undefined;
  } catch {
    return undefined; // nobody holds the state directory at this moment
  }
}

export function killHard(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}
