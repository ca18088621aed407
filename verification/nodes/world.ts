/** Some gateways with real pi on one real Postgres server, each with whatever of its own this machine gives it. */
import { systemClock } from "../../src/kit/clock.ts";
import { startCuttingProxy } from "../../src/testing/postgres/cutting-proxy.ts";
import { startPostgres } from "../../src/testing/postgres/server.ts";
import { waitFor } from "../../src/testing/wait-for.ts";
import type { Network } from "./network.ts";
import { type Node, startNode, UP_MS } from "./node.ts";
import { openSmallDisk, type SmallDisk } from "./small-disk.ts";

export type Outage = "kill" | "immediate" | "fast";

export interface NodesWorld extends AsyncDisposable {
  readonly nodes: readonly [Node, ...Node[]];
  readonly sql: Bun.SQL;
  pause(ms: number): Promise<void>;
  /** The database is away until `during` has resolved. Troubles of the database come one after the other. */
  outage(how: Outage, during: () => Promise<void>): Promise<void>;
  /** The disk of the database is full until `during` has resolved. False: it could not be filled. */
  fillDatabase(during: () => Promise<void>): Promise<boolean>;
  /** All connections that the database has left after `before` are taken until `during` has resolved. */
  takeConnections(before: () => void, during: () => Promise<void>): Promise<void>;
  /** Why this machine gives gateways and database no disks of their own; null: it does. */
  readonly noDisks: string | null;
  /** Everything is mended and every gateway there again. */
  heal(): Promise<void>;
}

interface WorldOptions {
  readonly count: number;
  /** Null: this machine gives gateways none of their own. */
  readonly network: Network | null;
  /** Everything but where the database is. */
  readonly config: Readonly<Record<string, unknown>>;
  onLine(line: string): void;
}

/** Few, so that all can be taken quickly: a gateway has seven or eight. */
const MAX_CONNECTIONS = 60;
/** The server needs a moment to notice that a connection was cut. */
const FREED_MS = 200;
const DATABASE_MEGABYTES = 1_500;
const NODE_MEGABYTES = 300;
const never = new AbortController().signal;

export async function openNodesWorld({ count, network, config, onLine }: WorldOptions): Promise<NodesWorld> {
  await using building = new AsyncDisposableStack();
  const useDisk = async (megabytes: number): Promise<SmallDisk | string> => {
    const disk = await openSmallDisk(megabytes);
    if (typeof disk !== "string") building.use(disk);
    return disk;
  };
  const databaseDisk = await useDisk(DATABASE_MEGABYTES);
  const server = await startPostgres({
    settings: { max_connections: String(MAX_CONNECTIONS), max_wal_size: "256MB" },
    ...(typeof databaseDisk === "string" ? {} : { parent: databaseDisk.path }),
  });
  if (typeof server === "string") throw new Error(server);
  building.use(server);
  const database = new URL(server.url);
  await using admin = new Bun.SQL(server.url, { max: 1 });
  await admin`create database nodes`;
  database.pathname = "/nodes";
  const nodes: Node[] = [];
  for (let at = 0; at < count; at++) {
    const wire = building.use(startCuttingProxy(database.href, network?.back));
    const disk = await useDisk(NODE_MEGABYTES);
    const parts = { wire, disk: typeof disk === "string" ? null : disk, network: network?.nodes[at] ?? null };
    nodes.push(building.use(await startNode({ name: `node ${at}`, ...parts, config, onLine })));
  }
  const sql = building.use(new Bun.SQL(database.href, { max: 2 }));
  const rest = building.move();
  const trouble = createDatabaseTrouble({ server, url: database.href, disk: databaseDisk });
  /** Never rejects: what one that stays away has left is judged like all else. */
  const up = (node: Node) =>
    waitFor(`${node.name} to be there`, () => isReady(node), Boolean, { withinMs: UP_MS }).catch((error: unknown) =>
      onLine(String(error)),
    );
  return {
    nodes: nodes as unknown as NodesWorld["nodes"],
    sql,
    pause: (ms) => systemClock.sleep(ms, never),
    ...trouble,
    noDisks: typeof databaseDisk === "string" ? databaseDisk : null,
    async heal() {
      for (const node of nodes) {
        node.thaw();
        node.wire.mend();
        node.network?.mend();
        node.disk?.free();
        node.clock.shift(0);
      }
      await Promise.all(nodes.map(up));
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

async function isReady(node: Node): Promise<boolean> {
  const answer = await fetch(`${node.url}/ready`, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
  return answer?.status === 200;
}

interface DatabaseParts {
  readonly server: Exclude<Awaited<ReturnType<typeof startPostgres>>, string>;
  readonly url: string;
  readonly disk: SmallDisk | string;
}

type DatabaseTrouble = Pick<NodesWorld, "outage" | "fillDatabase" | "takeConnections">;

/** One after the other: a server cannot be killed while it starts. */
function createDatabaseTrouble({ server, url, disk }: DatabaseParts): DatabaseTrouble {
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(act: () => Promise<T>): Promise<T> => {
    const mine = last.then(act);
    last = mine.catch(() => undefined); // whoever asked for it hears of it
    return mine;
  };
  return {
    outage: (how, during) =>
      alone(async () => {
        if (how === "kill") await server.kill();
        else await server.stop(how);
        await during();
        await server.start();
      }),
    fillDatabase: (during) =>
      alone(async () => {
        if (typeof disk === "string" || !disk.fill()) return false;
        await during();
        disk.free();
        if (!server.isAlive()) await server.start(); // it ends when it cannot even write its log
        return true;
      }),
    takeConnections: (before, during) =>
      alone(async () => {
        before();
        const taken = await takeAll(url);
        await systemClock.sleep(FREED_MS, never);
        taken.push(...(await takeAll(url)));
        await during();
        await Promise.all(taken.map((one) => one.close({ timeout: 0 })));
      }),
  };
}

/** One after the other until the server has none left. */
async function takeAll(url: string): Promise<Bun.SQL[]> {
  const taken: Bun.SQL[] = [];
  while (taken.length < MAX_CONNECTIONS) {
    const one = new Bun.SQL(url, { max: 1 });
    const isOpen = await one.connect().then(
      () => true,
      () => false, // none left, or no server
    );
    if (!isOpen) break;
    taken.push(one);
  }
  return taken;
}
