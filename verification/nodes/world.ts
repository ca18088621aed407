/** Some gateways with real pi on one real Postgres server. Each has a wire of its own to it, and is started again when it has ended, as a supervisor would. */
import { rmSync } from "node:fs";
import { systemClock } from "../../src/kit/clock.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { startCuttingProxy } from "../../src/testing/postgres/cutting-proxy.ts";
import { startPostgres } from "../../src/testing/postgres/server.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { waitFor } from "../../src/testing/wait-for.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";

export interface Node {
  readonly name: string;
  readonly url: string;
  readonly wire: ReturnType<typeof startCuttingProxy>;
  /** Null while it is not there. */
  process(): GatewayProcess | null;
  /** kill -9; started again after so long. */
  kill(awayMs: number): Promise<void>;
  /** SIGTERM, and resolves when it has ended. */
  end(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export interface NodesWorld extends AsyncDisposable {
  readonly nodes: readonly [Node, ...Node[]];
  readonly sql: Bun.SQL;
  pause(ms: number): Promise<void>;
  /** The database is away until `during` has resolved. */
  outage(how: "kill" | "immediate", during: () => Promise<void>): Promise<void>;
  isDatabaseAway(): boolean;
  /** Everything is mended and every gateway there again. */
  heal(): Promise<void>;
}

interface WorldOptions {
  readonly count: number;
  /** Everything but where the database is. */
  readonly config: Readonly<Record<string, unknown>>;
  onLine(line: string): void;
}

const SECRET = "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e";
const RESTART_MS = 300;
const UP_MS = 90_000;
const never = new AbortController().signal;

export async function openNodesWorld({ count, config, onLine }: WorldOptions): Promise<NodesWorld> {
  await using building = new AsyncDisposableStack();
  const server = await startPostgres();
  if (typeof server === "string") throw new Error(server);
  building.use(server);
  const database = new URL(server.url);
  await using admin = new Bun.SQL(server.url, { max: 1 });
  await admin`create database nodes`;
  database.pathname = "/nodes";
  const pause = (ms: number) => systemClock.sleep(ms, never);
  const nodes: Node[] = [];
  for (let at = 0; at < count; at++) {
    const wire = building.use(startCuttingProxy(database.href));
    const node = building.use(await startNode({ name: `node ${at}`, wire, config, onLine }));
    nodes.push(node);
  }
  const sql = building.use(new Bun.SQL(database.href, { max: 2 }));
  const rest = building.move();
  let away = false;
  const up = (node: Node) => waitFor(`${node.name} to be there`, () => isReady(node), Boolean, { withinMs: UP_MS });
  return {
    nodes: nodes as unknown as NodesWorld["nodes"],
    sql,
    pause,
    isDatabaseAway: () => away,
    async outage(how, during) {
      if (away) return;
      away = true;
      if (how === "kill") await server.kill();
      else await server.stop("immediate");
      await during();
      await server.start();
      away = false;
    },
    async heal() {
      for (const node of nodes) {
        node.thaw();
        node.wire.mend();
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

interface NodeOptions extends Pick<WorldOptions, "config" | "onLine"> {
  readonly name: string;
  readonly wire: Node["wire"];
}

async function startNode({ name, wire, config, onLine }: NodeOptions): Promise<Node & AsyncDisposable> {
  const home = await tempHome();
  const port = await freePort();
  const whole = { ...config, store: { url: wire.url, secret: SECRET } };
  const closing = new AbortController();
  let current: GatewayProcess | null = null;
  let awayMs = RESTART_MS;

  /** Never rejects. Starts it again whenever it has ended, whatever the reason. */
  const supervise = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        current = await startGatewayProcess({ home: home.path, config: whole, port });
        const code = await current.exited;
        if (code !== 0 && code !== 137) onLine(`${name} ended with ${code}`);
      } catch (error) {
        onLine(`${name} did not start: ${String(error).slice(0, 300)}`);
      }
      current = null;
      const pauseMs = awayMs;
      awayMs = RESTART_MS;
      await systemClock.sleep(pauseMs, closing.signal).catch(() => undefined); // the end of the run
    }
  };
  const running = supervise();
  await waitFor(`${name} to start`, () => current !== null, Boolean, { withinMs: UP_MS });
  const signal = (what: NodeJS.Signals): void => {
    if (current) process.kill(current.pid, what);
  };
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    wire,
    process: () => current,
    async kill(forMs) {
      awayMs = Math.max(forMs, RESTART_MS);
      await current?.kill();
    },
    async end() {
      await current?.stop();
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("the run is over"));
      signal("SIGCONT");
      await current?.kill();
      await running;
      rmSync(home.path, { recursive: true, force: true });
    },
  };
}
