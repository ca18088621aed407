/** A real IRC server on this machine: found, never fetched. `npm run irc-server` is what fetches one. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import { freePort } from "../free-port.ts";

export interface IrcServer extends AsyncDisposable {
  readonly port: number;
  /** kill -9, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Again on the same port. */
  start(): Promise<void>;
}

const ROOT = resolve(import.meta.dir, "../../..");
export const NGIRCD_CACHE = join(ROOT, "node_modules", ".cache", "ngircd");
export const HOW_TO_GET_NGIRCD = "There is no ngircd on this machine: `npm run irc-server` fetches one (Debian).";
const READY_MS = 10_000;
const MAX_PORTS = 5;

interface Found {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Null: there is none. */
export function findNgircd(): Found | null {
  const cached = join(NGIRCD_CACHE, "usr/sbin/ngircd");
  const env = { LD_LIBRARY_PATH: libraries().join(":") };
  const installed = Bun.which("ngircd", { PATH: `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin` });
  if (installed !== null) return { path: installed, env: {} };
  return existsSync(cached) ? { path: cached, env } : null;
}

function libraries(): readonly string[] {
  const below = join(NGIRCD_CACHE, "usr/lib");
  if (!existsSync(below)) return [];
  return [below, ...new Bun.Glob("*-linux-gnu*").scanSync({ cwd: below, onlyFiles: false, absolute: true })];
}

export async function startIrcServer(): Promise<IrcServer> {
  const found = findNgircd();
  if (!found) throw new Error(HOW_TO_GET_NGIRCD);
  const folder = await mkdtemp(join(tmpdir(), "pi-gateway-irc-"));
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    await writeFile(join(folder, "ngircd.conf"), settings(port));
    const life = lifeOf(found, join(folder, "ngircd.conf"));
    try {
      await life.start();
    } catch (error) {
      await life.kill();
      if (attempt < MAX_PORTS) continue; // somebody else took the port in between
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return {
      port,
      ...life,
      async [Symbol.asyncDispose]() {
        await life.kill();
        await rm(folder, { recursive: true, force: true });
      },
    };
  }
}

function lifeOf({ path, env }: Found, config: string): Pick<IrcServer, "start" | "kill"> {
  let running: ReturnType<typeof spawn> | null = null;
  const spawn = () =>
    Bun.spawn([path, "--nodaemon", "--config", config], { stdin: "ignore", stdout: "pipe", stderr: "pipe", env });
  return {
    async start() {
      running = spawn();
      const listens = deferred<void>();
      void read(running.stdout, (text) => text.includes("Now listening on") && listens.resolve());
      void read(running.stderr, () => undefined);
      void running.exited.then((code) => listens.reject(new Error(`ngircd ended with ${code}`)));
      using limit = systemClock.deadline(READY_MS, () => listens.reject(new Error("ngircd does not listen")));
      void limit;
      await listens.promise;
    },
    async kill() {
      running?.kill("SIGKILL");
      await running?.exited;
      running = null;
    },
  };
}

async function read(stream: ReadableStream<Uint8Array>, hear: (text: string) => void): Promise<void> {
  let all = "";
  for await (const chunk of stream) {
    all += new TextDecoder().decode(chunk);
    hear(all);
  }
}

/** Nothing is looked up, nobody is slowed down, and everybody comes from this machine. */
function settings(port: number): string {
  return [
    ...["[Global]", "Name = irc.test.local", "Info = for tests", "Listen = 127.0.0.1", `Ports = ${port}`],
    ...[
      "MotdPhrase = hello",
      "[Limits]",
      "MaxConnectionsIP = 0",
      "MaxPenaltyTime = 0",
      "MaxNickLength = 20",
      "MaxJoins = 10",
    ],
    ...["[Options]", "DNS = no", "Ident = no", "PAM = no", ""],
  ].join("\n");
}
