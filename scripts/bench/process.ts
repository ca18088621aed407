/** What the process itself costs: start to /health, a CLI command, memory at rest, next to a bare Bun server in the same run. */
import { join } from "node:path";
import { ensureCompiled } from "../compile.ts";
import { type GatewayProcessOptions, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { rssMb } from "./parts/process-cost.ts";
import { median, timed } from "./parts/stats.ts";

export interface ProcessFigures {
  readonly startToHealthMs: number;
  /** Not compiled, as an installed package starts. */
  readonly bundleToHealthMs: number;
  readonly bareServerToHealthMs: number;
  readonly cliMs: number;
  readonly idleRssMb: number;
  readonly bareServerRssMb: number;
}

const ROOT = join(import.meta.dir, "..", "..");
const NO_AGENTS = { agent: { pool: { min: 0 } } };
const REST_MS = 3_000;
const BARE =
  'const s = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") }); console.log(JSON.stringify({ url: `http://127.0.0.1:${s.port}` }));';

export async function measureProcess(starts: number): Promise<ProcessFigures> {
  const executable = await ensureCompiled(ROOT);
  const ours: number[] = [];
  const bundle: number[] = [];
  const bare: number[] = [];
  const cli: number[] = [];
  await using home = await tempHome(); // not the first start: the database is there, as on any other day
  await (await startGatewayProcess({ home: home.path, config: NO_AGENTS })).stop();
  for (let n = 0; n < starts; n++) {
    const toHealth = async (options: GatewayProcessOptions) => {
      const started = performance.now();
      const gateway = await startGatewayProcess({ home: home.path, ...options });
      await fetch(`${gateway.url}/health`);
      return { gateway, ms: performance.now() - started };
    };
    const uncompiled = await toHealth({});
    bundle.push(uncompiled.ms);
    await uncompiled.gateway.stop();
    const { gateway, ms } = await toHealth({ executable });
    ours.push(ms);
    cli.push(
      await timed(
        () =>
          Bun.spawn([process.execPath, "--no-env-file", join(ROOT, "dist", "main.js"), "status", "--home", home.path], {
            stdout: "ignore",
            stderr: "ignore",
          }).exited,
      ),
    );
    await gateway.stop();
    const server = await startBare();
    bare.push(server.ms);
    await server.stop();
  }
  const idle = await startGatewayProcess({ home: home.path, executable });
  const server = await startBare();
  await Bun.sleep(REST_MS);
  const figures = { idleRssMb: rssMb(idle.pid), bareServerRssMb: rssMb(server.pid) };
  await idle.stop();
  await server.stop();
  return {
    startToHealthMs: median(ours),
    bundleToHealthMs: median(bundle),
    bareServerToHealthMs: median(bare),
    cliMs: median(cli),
    ...figures,
  };
}

async function startBare() {
  const started = performance.now();
  const child = Bun.spawn([process.execPath, "--no-env-file", "-e", BARE], { stdout: "pipe", stderr: "ignore" });
  const { value } = await child.stdout.getReader().read();
  const { url } = JSON.parse(new TextDecoder().decode(value)) as { url: string };
  await fetch(url);
  const ms = performance.now() - started;
  return {
    ms,
    pid: child.pid,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

export const ownCost: Scenario = {
  name: "process",
  async measure(scale) {
    const figures = await measureProcess(Math.max(3, Math.round(15 * scale)));
    return [
      { what: "start to /health", value: figures.startToHealthMs, unit: "ms", ...atMost(150) },
      { what: "  not compiled (dist/main.js)", value: figures.bundleToHealthMs, unit: "ms", ...atMost(200) },
      { what: "  a bare Bun server", value: figures.bareServerToHealthMs, unit: "ms" },
      { what: "CLI command (status)", value: figures.cliMs, unit: "ms", ...atMost(100) },
      { what: "memory at rest, without agents", value: figures.idleRssMb, unit: "MB", ...atMost(70) },
      { what: "  a bare Bun server ", value: figures.bareServerRssMb, unit: "MB" },
    ];
  },
};
