/** `npm start` with the code compiled for the machine: when bin/pi-gw runs it, when it does not, and that it is the same gateway. */
import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureDist } from "../scripts/bundle.ts";
import { ensureCompiled } from "../scripts/compile.ts";
import { compiledStampFile, stampFile } from "../scripts/stamp.mjs";
import { descendantsOf } from "../src/agents/process/proc.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { waitFor } from "../src/testing/wait-for.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { tinyProject } from "./tooling-fixture.ts";

const PROJECT = join(import.meta.dir, "..");
const COMPILE_MS = 240_000;

/** A checkout whose build has a compiled gateway, which says so and what it was asked for. */
async function compiledProject() {
  const project = tinyProject();
  await ensureDist(project.root);
  project.write("dist/gateway", '#!/bin/sh\necho compiled "$@"\n');
  chmodSync(join(project.root, "dist/gateway"), 0o755);
  copyFileSync(stampFile(project.root), compiledStampFile(project.root));
  const run = async (...args: readonly string[]): Promise<string> =>
    new Response(project.launch("bin/pi-gw", ...args).stdout).text();
  return { ...project, run };
}

test("pi-gw start runs the compiled gateway of the build that is in place", async () => {
  using project = await compiledProject();
  expect(await project.run("start", "--port", "0")).toBe("compiled start --port 0\n");
});

test("commands other than start run from dist/main.js, also beside a compiled gateway", async () => {
  using project = await compiledProject();
  expect(await project.run("status")).toStartWith("program");
});

test.each([
  ["was made of another build", (root: string) => writeFileSync(compiledStampFile(root), "another")],
  ["has no stamp", (root: string) => rmSync(compiledStampFile(root))],
  ["is gone", (root: string) => rmSync(join(root, "dist/gateway"))],
  ["cannot be run", (root: string) => chmodSync(join(root, "dist/gateway"), 0o644)],
  ["is older than a source that was changed", (root: string) => writeFileSync(join(root, "src/new.ts"), "")],
])("pi-gw start runs from dist/main.js when the compiled gateway %s", async (_what, change) => {
  using project = await compiledProject();
  change(project.root);
  expect(await project.run("start")).toStartWith("program");
});

/** Empty for a process that has ended meanwhile. */
function readlinkIfThere(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const FAILING = `api.registerRoute({ method: "GET", path: "/fail", handle: () => { throw new Error("broken on purpose"); } });`;

test(
  "the compiled gateway finds pi, answers, runs plugins, and names places in the sources when it writes a stack",
  async () => {
    const executable = await ensureCompiled(PROJECT);
    await using home = await tempHome();
    await putPlugin(home.path, { id: "failing", body: FAILING });
    const config = { plugins: { enabled: ["failing"] } };
    await using gateway = await startGatewayProcess({ home: home.path, config, executable });
    expect((await gateway.chat("hello")).body.content).toContain("demo model");
    const agents = descendantsOf(gateway.pid).map(({ pid }) => readlinkIfThere(`/proc/${pid}/exe`));
    expect(agents).toContain(executable); // the same file, whose pages are in memory once
    expect((await gateway.chat("run: env")).body.content).toContain("PI_GATEWAY_SESSION_KEY=");
    expect((await gateway.chat("run: env")).body.content).not.toMatch(/BUN_BE_BUN|BUN_JSC/);
    expect((await pluginsOf(gateway)).get("failing")?.state).toBe("running");
    expect((await gateway.fetch("/plugins/failing/fail")).status).toBe(502);
    await waitFor("the stack to be written", () => gateway.stderr().includes("broken on purpose"));
    expect(gateway.stderr()).toMatch(/src\/plugins\/[\w/-]+\.ts:\d+:\d+/);
  },
  COMPILE_MS,
);
