/** One gateway with real pi: with a wire to the database, a network, a disk and a clock of its own. It is started again when it has ended, as a supervisor would. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/kit/clock.ts";
import { freePort } from "../../src/testing/free-port.ts";
import type { startCuttingProxy } from "../../src/testing/postgres/cutting-proxy.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { waitFor } from "../../src/testing/wait-for.ts";
import {
  type GatewayProcess,
  type GatewayProcessOptions,
  startGatewayProcess,
} from "../../src/testing/whole/gateway-process.ts";
import type { NodeNetwork } from "./network.ts";
import { type NodeClock, openNodeClock } from "./node-clock.ts";
import type { SmallDisk } from "./small-disk.ts";

export interface Node {
  readonly name: string;
  readonly url: string;
  readonly wire: ReturnType<typeof startCuttingProxy>;
  /** Null: this machine gives it none. */
  readonly network: NodeNetwork | null;
  /** Of its state directory. Null: this machine gives it none. */
  readonly disk: SmallDisk | null;
  readonly clock: NodeClock;
  /** Its state directory. */
  readonly home: string;
  /** Null while it is not there. */
  process(): GatewayProcess | null;
  /** kill -9; started again after so long. */
  kill(awayMs: number): Promise<void>;
  /** SIGTERM, and resolves when it has ended. */
  end(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

interface NodeOptions extends Pick<Node, "name" | "wire" | "network" | "disk"> {
  /** Everything but where the database is, and where the gateway listens. */
  readonly config: Readonly<Record<string, unknown>>;
  onLine(line: string): void;
}

const SECRET = "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e";
const TOKEN = "pZ3vK8nR5wXq2LtY7mBd9sHc";
const RESTART_MS = 300;
/** As a supervisor has it: after so long a start has failed. */
const START_MS = 60_000;
export const UP_MS = 90_000;

export async function startNode(options: NodeOptions): Promise<Node & AsyncDisposable> {
  const { name, wire, network, disk, onLine } = options;
  const own = await tempHome(); // for what is not the gateway's, and for its state directory where it has no disk
  const clock = openNodeClock(own.path);
  const port = await freePort();
  const home = join(disk?.path ?? own.path, "home");
  mkdirSync(home, { mode: 0o700 });
  const started = {
    home,
    port,
    within: network?.enter ?? [],
    preload: clock.preload,
    readyWithinMs: START_MS,
    env: clock.env,
  };
  const closing = new AbortController();
  let current: GatewayProcess | null = null;
  let awayMs = RESTART_MS;
  let first: Pick<GatewayProcessOptions, "config"> = { config: settings(options) }; // once: its disk may be full later

  /** Never rejects. Starts it again whenever it has ended, whatever the reason. */
  const supervise = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        current = await startGatewayProcess({ ...started, ...first });
        first = {};
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
    url: `http://${network?.address ?? "127.0.0.1"}:${port}`,
    wire,
    network,
    disk,
    clock,
    home,
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
      rmSync(own.path, { recursive: true, force: true });
    },
  };
}

function settings({ config, wire, network }: Pick<NodeOptions, "config" | "wire" | "network">) {
  const bind = network ? { bind: network.address, insecure: true } : {};
  return { ...config, gateway: { ...bind, auth: { token: TOKEN } }, store: { url: wire.url, secret: SECRET } };
}
