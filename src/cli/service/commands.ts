/** `pi-gw service install|uninstall|status|logs`: hands the gateway to the service manager of this machine. */
import { existsSync } from "node:fs";
import { chown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { visible } from "../../observe/index.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../state-directory.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { type InitSystem, initSystemOf } from "./init-systems.ts";
import type { ServiceSpec } from "./systemd-unit.ts";

export interface ServiceFlags extends CommonFlags {
  readonly system?: boolean;
  /** The user of a system service. */
  readonly as?: string;
  /** Print the file and change nothing. */
  readonly print?: boolean;
  /** Write the file and start nothing. */
  readonly start?: boolean;
  readonly lines?: number;
  readonly follow?: boolean;
}

const SYSTEM_HOME = "/var/lib/pi-gateway";
const SYSTEM_USER = "pi-gateway";
/** Inside the single executable, where no other program can read. */
const PACKED = "/$bunfs/";
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** Its own word is "Failed to connect to bus". */
const NO_USER_MANAGER =
  "This session has no service manager of your user (XDG_RUNTIME_DIR is not set). Sign in as this user and not by su or sudo, or use --system.";
const ENVIRONMENT_TEXT = `# Variables of the gateway as a service, such as keys of providers: NAME=value, one in each line.\n`;

export async function serviceInstall(world: CliWorld, flags: ServiceFlags): Promise<number> {
  const { manager, spec } = serviceOf(world, flags);
  const text = manager.text(spec);
  if (flags.print) {
    world.stdout(text);
    return EXIT_OK;
  }
  await prepareHome(spec);
  await mkdir(dirname(manager.file), { recursive: true });
  await writeFile(`${manager.file}.new`, text, { mode: 0o644 });
  await rename(`${manager.file}.new`, manager.file);
  world.stdout(`${visible(`Wrote ${manager.file}.`)}\n`);
  if (manager.kind === "systemd") tellOfVariables(world, spec);
  if (flags.start === false) return EXIT_OK;
  const code = await runAll(world, manager.begin);
  if (code !== EXIT_OK) return code;
  world.stdout("The gateway runs as a service. See: pi-gw service status\n");
  if (manager.hint !== null) world.stdout(`${manager.hint}\n`);
  return EXIT_OK;
}

export async function serviceUninstall(world: CliWorld, flags: ServiceFlags): Promise<number> {
  const { manager, spec } = serviceOf(world, flags);
  if (!existsSync(manager.file)) {
    world.stdout(`${visible(`There is no service: ${manager.file} does not exist.`)}\n`);
    return EXIT_OK;
  }
  await runAll(world, manager.end); // one that does not run is uninstalled all the same
  await rm(manager.file, { force: true });
  await runAll(world, manager.forget);
  world.stdout(`${visible(`The service is gone. ${spec.home} is still there.`)}\n`);
  return EXIT_OK;
}

/** Ends as the service manager's own command ends: 0 when it runs, 3 when it does not. */
export async function serviceStatus(world: CliWorld, flags: ServiceFlags): Promise<number> {
  return run(world, serviceOf(world, flags).manager.status);
}

export async function serviceLogs(world: CliWorld, flags: ServiceFlags): Promise<number> {
  const { manager } = serviceOf(world, flags);
  return run(world, manager.logs(flags.lines ?? 100, flags.follow === true));
}

function serviceOf(world: CliWorld, flags: ServiceFlags): { readonly manager: InitSystem; readonly spec: ServiceSpec } {
  const isSystem = flags.system === true;
  const { environment } = world;
  const home = isSystem ? homeOf(flags.home ?? SYSTEM_HOME, environment) : homeOf(flags.home, environment);
  const manager = initSystemOf({
    platform: process.platform,
    userHome: environment.userHome,
    uid: process.getuid?.() ?? 0,
    configHome: environment.variables("XDG_CONFIG_HOME"),
    isSystem,
    home,
  });
  if (manager === null)
    throw new GatewayError("bad_request", "no service manager", {
      say: "Services are made for systemd (Linux) and for launchd (macOS, without --system).",
    });
  const spec: ServiceSpec = {
    command: programOf(environment.variables("PI_GATEWAY_LAUNCHER")),
    home,
    environmentFile: join(home, "service.env"),
    path: environment.path,
    systemUser: isSystem ? (flags.as ?? SYSTEM_USER) : null,
  };
  return { manager, spec };
}

/** The launcher, which becomes the version that an update chose; without one, how this very command runs. */
function programOf(launcher: string | undefined): readonly string[] {
  if (launcher !== undefined) return ["/bin/sh", launcher];
  return Bun.main.startsWith(PACKED) ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main];
}

/** The service begins in it, and reads its variables there. */
async function prepareHome({ home, environmentFile, systemUser }: ServiceSpec): Promise<void> {
  const owner = systemUser === null ? null : await userIds(systemUser);
  if (!existsSync(home)) {
    await mkdir(home, { recursive: true, mode: PRIVATE_FOLDER });
    if (owner !== null) await chown(home, owner.uid, owner.gid);
  }
  if (existsSync(environmentFile)) return;
  await writeFile(environmentFile, ENVIRONMENT_TEXT, { mode: PRIVATE_FILE });
  if (owner !== null) await chown(environmentFile, owner.uid, owner.gid);
}

async function userIds(name: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const asked = ["-u", "-g"].map((what) => Bun.spawnSync(["id", what, "--", name]));
  const [uid, gid] = asked.map(({ success, stdout }) => (success ? Number(stdout.toString()) : Number.NaN));
  if (uid !== undefined && gid !== undefined && Number.isSafeInteger(uid) && Number.isSafeInteger(gid))
    return { uid, gid };
  throw new GatewayError("bad_request", "no such user", {
    fields: { name },
    say: `There is no user ${name} on this machine. Make one with: useradd --system ${name}, or name another with --as.`,
  });
}

/** A service does not have what this shell has. */
function tellOfVariables(world: CliWorld, { environmentFile }: ServiceSpec): void {
  const names = Object.keys(world.environment.providerKeys);
  if (names.length === 0) return;
  world.stdout(
    `${visible(`This shell has ${names.join(", ")}; the service does not. Put it into ${environmentFile} as NAME=value, then: pi-gw service install`)}\n`,
  );
}

async function runAll(world: CliWorld, steps: readonly (readonly string[])[]): Promise<number> {
  for (const step of steps) {
    const code = await run(world, step);
    if (code !== EXIT_OK) {
      world.stderr(`${visible(`This did not work: ${step.join(" ")}`)}\n`);
      return code;
    }
  }
  return EXIT_OK;
}

async function run(world: CliWorld, [program = "", ...args]: readonly string[]): Promise<number> {
  const found = Bun.which(program, { PATH: world.environment.path });
  if (found === null) {
    world.stderr(`${program} was not found: this machine has no service manager that is known.\n`);
    return EXIT_FAILED;
  }
  const code = await Bun.spawn([found, ...args], { stdio: ["ignore", "inherit", "inherit"] }).exited;
  if (code !== EXIT_OK && args.includes("--user") && !world.environment.variables("XDG_RUNTIME_DIR"))
    world.stderr(`${NO_USER_MANAGER}\n`);
  return code;
}
