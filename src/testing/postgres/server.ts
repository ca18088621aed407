/**
 * A real Postgres server for tests, on a free port of 127.0.0.1 and without a unix socket. It and its data are gone when it is disposed of,
 * and when the process that started it is killed. `fsync` is off: its commits survive `kill -9`, and no power cut.
 */
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { identify, isAlive, signalProcess } from "../../agents/process/proc.ts";
import { systemIds } from "../../kit/ids.ts";
import { freePort } from "../free-port.ts";
import { waitFor } from "../wait-for.ts";
import { startKeeper } from "./keeper.ts";
import { type PostgresPrograms, postgresPrograms } from "./programs.ts";

interface PostgresServer extends AsyncDisposable {
  /** Of the superuser, with password, to the database `postgres`. */
  readonly url: string;
  readonly folder: string;
  /** Of the first server process, whose end is the end of all of them. */
  pid(): number;
  isAlive(): boolean;
  /** Again, on the same port and with the same data. */
  start(): Promise<void>;
  /** `immediate` is Postgres' own crash: no checkpoint, and recovery at the next start. */
  stop(mode: "fast" | "immediate"): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
}

const MAX_PORTS = 5;
const PASSWORD_BYTES = 16;
/** The order of text is a dictionary's, as on most servers of others: an engine that needs the order of bytes has to ask for it. */
const LOCALE = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  fsync: "off",
  full_page_writes: "off",
};

interface PostgresOptions {
  /** Where its folder is made; its user has to be able to use it. Default: where temporary files are. */
  readonly parent?: string;
  /** Beside those of every test, and before them. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Text: why there can be none on this machine. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer | string> {
  const programs = postgresPrograms();
  if (typeof programs === "string") return programs;
  for (let attempt = 1; ; attempt++) {
    const outcome = await tryPort(programs, await freePort(), options);
    if (typeof outcome !== "string") return outcome;
    // Another process may have taken the port in between.
    if (attempt === MAX_PORTS || !outcome.includes("could not bind")) return `Postgres did not start: ${outcome}`;
  }
}

async function tryPort(
  programs: PostgresPrograms,
  port: number,
  { parent, settings }: PostgresOptions,
): Promise<PostgresServer | string> {
  const folder = newFolder("pi-gw-postgres-", programs.user, parent);
  const password = systemIds.secret(PASSWORD_BYTES);
  const all = Object.entries({ ...SETTINGS, ...settings });
  const initdbFlags = [...LOCALE, ...all.map(([name, value]) => `--set=${name}=${value}`)];
  const keeper = startKeeper({ programs, folder, port, password, initdbFlags });
  const logs = (): string => ["keeper.log", "server.log"].map((name) => textOf(join(folder, name))).join("\n");
  const command = async (words: Parameters<typeof keeper.ask>[0]): Promise<void> => {
    if (!(await keeper.ask(words))) throw new Error(`Postgres failed to ${words}:\n${logs()}`);
  };
  const pid = (): number => Number(textOf(join(folder, "data/postmaster.pid")).split("\n")[0]);
  try {
    await command("initialise");
    await command("start");
  } catch (error) {
    await keeper.end();
    return String(error);
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    folder,
    pid,
    isAlive: () => identify(pid()) !== null,
    start: () => command("start"),
    stop: (mode) => command(`stop ${mode}`),
    async kill() {
      const first = identify(pid());
      if (!first) return;
      signalProcess(first, "SIGKILL");
      await waitFor("the end of Postgres", () => !isAlive(first));
    },
    [Symbol.asyncDispose]: () => keeper.end(),
  };
}

/** A folder that the user of Postgres can use and delete: the one for temporary files of a test process often is for its own user alone. */
export function newFolder(prefix: string, user: PostgresPrograms["user"], wanted?: string): string {
  const parent = wanted ?? [tmpdir(), "/dev/shm", "/tmp"].find((path) => !user || isOpen(path)) ?? tmpdir();
  const folder = mkdtempSync(join(parent, prefix));
  if (user) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
  return folder;
}

/** Whether every user may reach this folder and change what is in it. */
function isOpen(path: string): boolean {
  const isReachable = (at: string): boolean =>
    (statSync(at).mode & 0o001) !== 0 && (at === "/" || isReachable(dirname(at)));
  return existsSync(path) && (statSync(path).mode & 0o002) !== 0 && isReachable(path);
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
