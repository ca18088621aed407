/**
 * The least a gateway can be, in a process of its own: it takes words over a socket, stores a row, synced, has pi answer, stores another
 * row, and says that it is done. What it adds to bare pi nobody who stores before acknowledging can do without.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { deferred, type Deferred } from "../../../src/kit/deferred.ts";
import { tempHome } from "../../../src/testing/temp-home.ts";
import { type BarePi, type GivenToPi, startBarePi } from "./bare-pi.ts";

export interface StandIn extends AsyncDisposable {
  /** Each has a pi process of its own. */
  readonly lanes: readonly ((text: string) => Promise<void>)[];
  /** Begins another conversation in each of them. */
  anew(): Promise<void>;
}

interface Order {
  readonly baseUrl: string;
  readonly given: GivenToPi;
  readonly lanes: number;
  /** Of a Postgres database to store in. Undefined: an SQLite file. */
  readonly postgres?: string;
}

interface Asked {
  readonly id: number;
  readonly lane: number;
  /** Null: begin anew. */
  readonly text: string | null;
}

export async function startStandIn(order: Order): Promise<StandIn> {
  const child = Bun.spawn([process.execPath, "--no-env-file", import.meta.path], {
    stdin: new TextEncoder().encode(JSON.stringify(order)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  const socket = new WebSocket(new TextDecoder().decode(value).trim());
  const opened = deferred<void>();
  const waiting = new Map<number, Deferred<void>>();
  let asked = 0;
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error("the stand-in did not open"));
  socket.onmessage = ({ data }) => waiting.get((JSON.parse(String(data)) as Asked).id)?.resolve();
  await opened.promise;
  const ask = (lane: number, text: string | null): Promise<void> => {
    const answer = deferred<void>();
    waiting.set(++asked, answer);
    socket.send(JSON.stringify({ id: asked, lane, text } satisfies Asked));
    return answer.promise;
  };
  const numbers = Array.from({ length: order.lanes }, (_, lane) => lane);
  return {
    lanes: numbers.map((lane) => (text) => ask(lane, text)),
    anew: async () => void (await Promise.all(numbers.map((lane) => ask(lane, null)))),
    async [Symbol.asyncDispose]() {
      socket.close();
      child.kill();
      await child.exited;
    },
  };
}

async function serve({ baseUrl, given, lanes, postgres }: Order): Promise<void> {
  await using folders = new AsyncDisposableStack();
  const folder = async (): Promise<string> => folders.use(await tempHome()).path;
  const store = postgres === undefined ? sqliteStore(await folder()) : await postgresStore(postgres);
  const pis: BarePi[] = [];
  for (let lane = 0; lane < lanes; lane++) pis.push(folders.use(await startBarePi(await folder(), baseUrl, given)));
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, own) => (own.upgrade(request) ? undefined : new Response("a socket, please", { status: 400 })),
    websocket: {
      async message(socket, frame) {
        const { id, lane, text } = JSON.parse(String(frame)) as Asked;
        if (text === null) await pis[lane]?.anew();
        else {
          await store(text);
          await pis[lane]?.turn(text);
          await store(text);
        }
        socket.send(JSON.stringify({ id }));
      },
    },
  });
  console.log(`ws://127.0.0.1:${server.port}`);
  await new Promise<void>((resolve) => process.once("SIGTERM", () => resolve()));
}

/** Stores a row, synced. */
type StoreRow = (text: string) => Promise<void>;

function sqliteStore(folder: string): StoreRow {
  const database = new Database(join(folder, "stand-in.db"));
  database.run("pragma journal_mode = wal");
  database.run("pragma synchronous = full");
  database.run("create table said (id integer primary key, text text)");
  const insert = database.prepare<unknown, [string]>("insert into said (text) values (?)");
  return async (text) => void insert.run(text);
}

async function postgresStore(url: string): Promise<StoreRow> {
  const sql = new Bun.SQL(url, { max: 1 });
  await sql`create table said (id bigserial primary key, text text)`;
  return async (text) => void (await sql`insert into said (text) values (${text})`);
}

if (import.meta.main) {
  await serve((await Bun.stdin.json()) as Order);
  process.exit(0);
}
