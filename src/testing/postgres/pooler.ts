/** PgBouncer between a test and its Postgres database, where it is installed (`apt-get install pgbouncer`). It is no part of npm's packages, so tests that need it skip without it. */
import { chownSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { waitFor } from "../wait-for.ts";
import { postgresPrograms } from "./programs.ts";
import { newFolder } from "./server.ts";

export type PoolMode = "session" | "transaction" | "statement";

interface Pooler extends AsyncDisposable {
  /** Of the same database, by way of the pooler. */
  readonly url: string;
}

/** Null: it is not installed, and the reason has been printed. */
export function poolerProgram(): string | null {
  const path = Bun.which("pgbouncer", { PATH: `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin` });
  if (path === null) console.warn("\n*** Tests with a pooler are SKIPPED on this machine: there is no pgbouncer\n");
  return path;
}

export async function startPooler(program: string, url: string, mode: PoolMode): Promise<Pooler> {
  const target = new URL(url);
  const name = target.pathname.slice(1);
  const port = await freePort();
  const programs = postgresPrograms();
  const user = typeof programs === "string" ? null : programs.user; // it does not run as root either
  const folder = newFolder("pi-gw-pooler-", user);
  const file = join(folder, "pgbouncer.ini");
  const from = `host=${target.hostname} port=${target.port} dbname=${name} user=${target.username} password=${target.password}`;
  const settings = [
    ...["[databases]", `${name} = ${from}`],
    ...["[pgbouncer]", "listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "auth_type = any"],
    `pool_mode = ${mode}`,
  ];
  writeFileSync(file, `${settings.join("\n")}\n`);
  if (user) chownSync(file, user.uid, user.gid);
  const child = Bun.spawn(
    user
      ? ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", program, "-q", file]
      : [program, "-q", file],
    {
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const own = new URL(url);
  own.port = String(port);
  await waitFor("the pooler", async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${await new Response(child.stderr).text()}`);
    return isListening(port);
  });
  return {
    url: own.href,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } });
    socket.terminate();
    return true;
  } catch {
    return false; // it is not there yet
  }
}
