/** A process of its own that uses a store and can be killed in the middle of it. Run directly it is the child; imported it starts one. */
import { Database } from "bun:sqlite";
import { writeSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../kit/clock.ts";
import { systemIds } from "../../../kit/ids.ts";
import { silentLog } from "../../../kit/log.ts";
import { openStateDirectory, openStore } from "../../../store/index.ts";
import { migrate } from "../../../store/migrate.ts";
import { firstMessage } from "../../../store/migrations/early/001-first-message.ts";
import { row } from "./store-world.ts";

interface StoreChild extends AsyncDisposable {
  readonly pid: number;
  /** The next line it prints; null at its end. */
  line(): Promise<string | null>;
  /** Kills it with no chance to tidy up, and gives what it had still printed. */
  kill(): Promise<readonly string[]>;
}

/**
 * `hold HOME` takes the directory and says `held`; `accept HOME` prints the id of each message once it was accepted, for ever;
 * `migrate HOME` says `half done` and kills itself between two migrations.
 */
export async function startStoreChild(args: readonly ["hold" | "accept" | "migrate", string]): Promise<StoreChild> {
  const child = Bun.spawn([process.execPath, import.meta.path, ...args], {
    stdin: "pipe", // stays open as long as this process lives, so an orphan ends by itself
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = readLines(child.stdout);
  const next = async (): Promise<string | null> => {
    const { value, done } = await lines.next();
    return done ? null : value;
  };
  const kill = async (): Promise<readonly string[]> => {
    child.kill("SIGKILL");
    await child.exited;
    const rest: string[] = [];
    for (let line = await next(); line !== null; line = await next()) rest.push(line);
    return rest;
  };
  return { pid: child.pid, line: next, kill, [Symbol.asyncDispose]: async () => void (await kill()) };
}

/** Whole lines only: the last one may have been cut by the kill. */
async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let held = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const parts = (held + decoder.decode(chunk, { stream: true })).split("\n");
    held = parts.pop() ?? "";
    yield* parts;
  }
}

async function runChild(what: string | undefined, home: string): Promise<void> {
  await using _held = await openStateDirectory({ log: silentLog }, home);
  if (what === "hold") {
    process.stdout.write("held\n");
    await Bun.stdin.text(); // until it is killed
    return;
  }
  if (what === "migrate") return dieBetweenMigrations(join(home, "gateway.db"));
  await using store = await openStore({ clock: systemClock, ids: systemIds, log: silentLog }, { home });
  for (let round = 0; ; round++) {
    const rows = Array.from({ length: 5 }, (_, n) => row(`in${store.epoch}.${round}.${n}`, `s${n}`));
    await Promise.all(
      rows.map(async (one) => {
        await store.inbox.accept(one);
        process.stdout.write(`${one.id}\n`);
      }),
    );
  }
}

function dieBetweenMigrations(file: string): void {
  using db = new Database(file);
  const half = { name: "half", sql: "create table half (x integer) strict" };
  const death = {
    name: "death",
    get sql(): string {
      writeSync(1, "half done\n");
      process.kill(process.pid, "SIGKILL");
      return "";
    },
  };
  migrate(db, 1, [firstMessage, half, death]);
}

if (import.meta.main) await runChild(process.argv[2], process.argv[3] ?? "");
