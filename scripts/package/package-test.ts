/**
 * `npm run package-test`: installs the packed gateway as people do, from a registry on loopback, into empty folders: as a dependency, globally,
 * and by npx. Each time it runs the commands; once it starts the gateway, chats and stops it; once it updates a gateway that serves. Says what each step took.
 */
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDist } from "../bundle.ts";
import { pack, PROJECT, repack, unpack } from "./pack.ts";
import { startRegistry } from "./registry.ts";

interface Stage {
  readonly folder: string;
  readonly registry: string;
  /** The packed gateway. */
  readonly packed: string;
}

const NEXT_VERSION = "99.0.0";

type Command = readonly string[];

/** The output of a command that has to succeed. */
async function run(stage: Stage, cwd: string, command: Command): Promise<string> {
  const child = Bun.spawn([...command], { cwd, env: environment(stage), stdio: ["ignore", "pipe", "pipe"] });
  const [output, said] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${output}${said}`);
  return output;
}

/** Nothing of whoever runs this: no cache, no settings, no home. */
function environment({ folder, registry }: Pick<Stage, "folder" | "registry">): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: join(folder, "user"),
    TMPDIR: folder,
    npm_config_cache: join(folder, "cache"),
    npm_config_registry: registry,
    npm_config_userconfig: join(folder, "no-npmrc"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    // pi asks for Node 22, which matters only when Node runs it
    npm_config_loglevel: "error",
  };
}

function emptyFolder(stage: Stage, name: string): string {
  const folder = join(stage.folder, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "name": "somebody", "private": true }\n');
  return folder;
}

async function asDependency(stage: Stage): Promise<string> {
  const folder = emptyFolder(stage, "app");
  await run(stage, folder, ["npm", "install", "pi-gateway"]);
  for (const name of ["pi-gateway", "pi-gw"]) await sameVersion(stage, folder, ["npx", "--no-install", name]);
  const home = join(stage.folder, "home");
  // not by npx, which ends with its own code when it is told to stop
  const command = join(folder, "node_modules", ".bin", "pi-gateway");
  const gateway = Bun.spawn([command, "start", "--home", home, "--port", "0"], {
    cwd: folder,
    env: environment(stage),
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const chunk of gateway.stdout) if (new TextDecoder().decode(chunk).includes("pi-gateway ready")) break;
  const reply = await run(stage, folder, ["npx", "--no-install", "pi-gw", "chat", "hello", "--home", home]);
  gateway.kill("SIGTERM");
  const code = await gateway.exited;
  if (!reply.includes("demo model")) throw new Error(`the reply was: ${reply}`);
  if (code !== 0) throw new Error(`the gateway ended with ${code}`);
  rmSync(folder, { recursive: true, force: true });
  return "installed, started, answered, stopped";
}

async function globally(stage: Stage): Promise<string> {
  const prefix = join(stage.folder, "global");
  await run(stage, stage.folder, ["npm", "install", "--global", "--prefix", prefix, "pi-gateway"]);
  for (const name of ["pi-gateway", "pi-gw"]) await sameVersion(stage, stage.folder, [join(prefix, "bin", name)]);
  rmSync(prefix, { recursive: true, force: true });
  return "installed, both commands answer";
}

/** The installed package updates itself while it serves, with npm and this registry. */
async function byUpdate(stage: Stage): Promise<string> {
  const prefix = join(stage.folder, "updated");
  await run(stage, stage.folder, ["npm", "install", "--global", "--prefix", prefix, "pi-gateway"]);
  const command = join(prefix, "bin", "pi-gw");
  const home = join(stage.folder, "updated-home");
  const gateway = Bun.spawn([command, "start", "--home", home, "--port", "0"], {
    cwd: stage.folder,
    env: environment(stage),
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const chunk of gateway.stdout) if (new TextDecoder().decode(chunk).includes("pi-gateway ready")) break;
  const next = await repack(stage.packed, stage.folder, NEXT_VERSION);
  const said = await run(stage, stage.folder, [command, "update", "--from", next, "--home", home]);
  const status = JSON.parse(await run(stage, stage.folder, [command, "status", "--json", "--home", home])) as {
    version: string;
  };
  await run(stage, stage.folder, [command, "stop", "--home", home]);
  const code = await gateway.exited;
  if (status.version !== NEXT_VERSION) throw new Error(`version ${status.version} serves: ${said}`);
  if (code !== 0) throw new Error(`the gateway ended with ${code}`);
  rmSync(prefix, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
  return "updated while it served, stopped";
}

async function byNpx(stage: Stage): Promise<string> {
  await sameVersion(stage, emptyFolder(stage, "nothing"), ["npx", "--yes", "pi-gateway"]);
  return "answers in a folder where nothing is installed";
}

async function sameVersion(stage: Stage, folder: string, command: Command): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as { version: string };
  const printed = (await run(stage, folder, [...command, "--version"])).trim();
  if (printed !== version) throw new Error(`${command.join(" ")} --version printed ${printed}, and not ${version}`);
}

const folder = mkdtempSync(join(tmpdir(), "package-test-"));
try {
  await ensureDist(PROJECT);
  const packed = await pack(folder);
  const manifest = JSON.parse(readFileSync(join(await unpack(packed.file, folder), "package.json"), "utf8")) as object;
  console.log(`package: ${packed.paths.length} files, ${packed.bytes} bytes, ${packed.unpackedBytes} unpacked`);
  await using registry = startRegistry({ file: packed.file, manifest }, folder);
  const stage = { folder, registry: registry.url, packed: packed.file };
  for (const step of [asDependency, globally, byNpx, byUpdate]) {
    const startedAt = performance.now();
    const result = await step(stage);
    console.log(`${step.name}: ${result} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
