/**
 * The shell that keeps a Postgres server: it starts and stops it by commands from a pipe. When the pipe ends, because the process that holds
 * the other end stopped or was killed, it stops the server and deletes its folder. It is a shell because that costs a megabyte.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { deferred, type Deferred } from "../../kit/deferred.ts";
import { waitForEnd } from "../wait-for.ts";
import type { PostgresPrograms } from "./programs.ts";

interface PostgresKeeper {
  /** False: the command failed, and the logs in the folder say why. */
  ask(command: "initialise" | "start" | "stop fast" | "stop immediate"): Promise<boolean>;
  /** Server and folder are gone when it resolves. */
  end(): Promise<void>;
}

interface KeeperOptions {
  readonly programs: PostgresPrograms;
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly initdbFlags: readonly string[];
}

/**
 * Folder, programs and port are $1, $2 and $3; the rest is for initdb. Nothing is echoed after the pipe has ended: nobody may be listening, and
 * the signal for that would end the shell before it has cleaned up. Postgres that was killed may leave processes behind for a moment, in
 * which it does not start again.
 */
const SCRIPT = `
folder=$1 programs=$2 port=$3; shift 3
trap '' PIPE
umask 077
initialise() {
  printf '%s' "$POSTGRES_PASSWORD" >"$folder/password" &&
    "$programs/initdb" --pgdata="$folder/data" --username=postgres --pwfile="$folder/password" --auth=scram-sha-256 --no-sync --wal-segsize=1 "$@"
}
start() {
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    "$programs/pg_ctl" start --wait --pgdata="$folder/data" --log="$folder/server.log" --options="-p $port" && return 0
    if grep -q 'could not bind' "$folder/server.log"; then return 1; fi
    sleep 0.2
  done
  return 1
}
stop() { "$programs/pg_ctl" stop --wait --pgdata="$folder/data" --mode="$1"; }
while read -r command argument; do
  case $command in
    initialise) initialise "$@" ;;
    start) start ;;
    stop) stop "$argument" ;;
  esac >>"$folder/keeper.log" 2>&1 && echo done || echo failed
done
stop immediate >/dev/null 2>&1
rm -rf "$folder"
`;

/** Making the files of a server takes a second, and a minute where everybody uses the machine. */
const COMMAND_MS = 90_000;

export function startKeeper({ programs, folder, port, password, initdbFlags }: KeeperOptions): PostgresKeeper {
  const shell = spawn("sh", ["-c", SCRIPT, "postgres-keeper", folder, programs.folder, String(port), ...initdbFlags], {
    detached: true, // a signal for the group of the test run must not end it before it has cleaned up
    cwd: "/",
    env: { PATH: process.env.PATH ?? "", POSTGRES_PASSWORD: password, LC_ALL: "C" },
    stdio: ["pipe", "pipe", "ignore"],
    ...programs.user,
  });
  const waiting: Deferred<boolean>[] = [];
  const ended = deferred<void>();
  createInterface({ input: shell.stdout }).on("line", (line) => waiting.shift()?.resolve(line === "done"));
  shell.once("error", () => ended.resolve());
  shell.once("exit", () => ended.resolve());
  void ended.promise.then(() => waiting.forEach((one) => one.resolve(false)));
  shell.unref();
  return {
    ask(command) {
      const answer = deferred<boolean>();
      waiting.push(answer);
      shell.stdin.write(`${command}\n`);
      return waitForEnd(`Postgres: ${command}`, answer.promise, { withinMs: COMMAND_MS });
    },
    async end() {
      shell.stdin.end();
      await waitForEnd("the shell that keeps Postgres", ended.promise);
    },
  };
}
