/** What `npm start` costs as a whole: time until it is ready, and the memory of every process it has started, at rest and for each conversation more. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { descendantsOf } from "../../src/agents/process/proc.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { ensureCompiled } from "../compile.ts";
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { privateMb, rssMb } from "./parts/process-cost.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, round, timed } from "./parts/stats.ts";

export interface TreeFigures {
  readonly coldMs: number;
  readonly warmMs: number;
  readonly restMb: number;
  readonly gatewayMb: number;
  readonly perConversationMb: number;
}

const ROOT = join(import.meta.dir, "..", "..");
const REST_MS = 5_000;
const CONVERSATIONS = 4;
const THINK_MS = 1_500;
const STOP_MS = 20_000;

interface Started extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly readyMs: number;
}

export async function measureTree(starts: number): Promise<TreeFigures> {
  await ensureCompiled(ROOT); // as npm install leaves it
  await using provider = await startProviderProcess({ echo: true, thinkMs: THINK_MS });
  await using home = await tempHome();
  writeFileSync(join(home.path, "pi-gateway.jsonc"), JSON.stringify(benchConfig(provider.baseUrl, {})));
  const ready: number[] = [];
  for (let at = 0; at <= starts; at++) {
    await using started = await startByNpm(home.path);
    ready.push(started.readyMs);
  }
  await using started = await startByNpm(home.path);
  using client = await openLoadClient(started);
  await Bun.sleep(REST_MS);
  const restMb = treeMb(started.pid);
  const gatewayMb = rssMb(gatewayOf(started.pid));
  const talk = (count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, at) => client.ask(`agent:default:webchat:dm:tree-${at}`, `hello ${count}`)),
    );
  await talk(1);
  await Bun.sleep(REST_MS);
  const oneMb = treeMb(started.pid);
  await timed(() => talk(1 + CONVERSATIONS));
  await Bun.sleep(REST_MS);
  const perConversationMb = round((treeMb(started.pid) - oneMb) / CONVERSATIONS);
  return { coldMs: ready[0] ?? Number.NaN, warmMs: median(ready.slice(1)), restMb, gatewayMb, perConversationMb };
}

async function startByNpm(home: string): Promise<Started> {
  const began = performance.now();
  const child = Bun.spawn(["npm", "start", "--silent", "--", "--port", "0", "--json"], {
    cwd: ROOT,
    env: { ...process.env, PI_GATEWAY_HOME: home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { value } = await child.stdout.getReader().read();
  const readyMs = performance.now() - began;
  const said = JSON.parse(new TextDecoder().decode(value).split("\n")[0] ?? "{}") as { readonly url: string };
  return {
    url: said.url,
    token: (await Bun.file(join(home, "token")).text()).trim(),
    pid: child.pid,
    readyMs: round(readyMs),
    async [Symbol.asyncDispose]() {
      process.kill(gatewayOf(child.pid), "SIGTERM");
      await Promise.race([child.exited, Bun.sleep(STOP_MS)]);
    },
  };
}

/** The process of the gateway itself: npm may stand before it, agents after it. */
function gatewayOf(pid: number): number {
  const all = [pid, ...descendantsOf(pid).map((one) => one.pid)];
  return all.find((one) => /dist\/(?:gateway|main\.js) /.test(commandOf(one))) ?? pid;
}

function commandOf(pid: number): string {
  const { stdout } = Bun.spawnSync(["ps", "-o", "args=", "-p", String(pid)]);
  return stdout.toString();
}

/** What would be free again if all of it ended. */
function treeMb(pid: number): number {
  return round([pid, ...descendantsOf(pid).map((one) => one.pid)].reduce((sum, one) => sum + privateMb(one), 0));
}

export const tree: Scenario = {
  name: "tree",
  async measure(scale) {
    const figures = await measureTree(Math.max(3, Math.round(7 * scale)));
    return [
      { what: "npm start to ready, first start of a home", value: figures.coldMs, unit: "ms" },
      { what: "npm start to ready, after that", value: figures.warmMs, unit: "ms", ...atMost(350) },
      { what: "whole tree at rest, private memory", value: figures.restMb, unit: "MB", ...atMost(125) },
      { what: "  of it the gateway, resident", value: figures.gatewayMb, unit: "MB", ...atMost(58) },
      { what: "  for each further conversation at once", value: figures.perConversationMb, unit: "MB", ...atMost(60) },
    ];
  },
};
