/** The parts of `doctor` that look at the machine. Nothing here changes anything; a probe that fails says why instead of throwing. */
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Config } from "../../config/index.ts";
import { isGatewayError } from "../../contracts/errors.ts";
import type { SandboxReport } from "../../contracts/sandbox.ts";
import { systemClock } from "../../kit/clock.ts";
import { parseJson } from "../../kit/json.ts";
import { silentLog } from "../../kit/log.ts";
import { readSmall } from "../state-directory.ts";
import { recordOf, textOf } from "../read-value.ts";
import type { CliWorld } from "../world.ts";

export interface DoctorProbes {
  readonly bunVersion: string;
  /** Finds pi and, when it can, starts one and asks it for its state. */
  pi(world: CliWorld, place: { readonly home: string; readonly config: Config }): Promise<ProbeResult>;
  /** Tries what wall this machine can build around agents. */
  sandbox(world: CliWorld): Promise<SandboxReport>;
  /** Bytes that may still be written below `path`; null when the system does not say. */
  freeBytes(path: string): Promise<number | null>;
  /** Whether the gateway could listen there. */
  portIsFree(port: number): boolean;
  /** The clock of this machine. */
  now?(): number;
  /** Asks Discord about the bot; null: there is none. */
  discord?(world: CliWorld, config: Config): Promise<ChannelProbe | null>;
  telegram?(world: CliWorld, config: Config): Promise<readonly ChannelProbe[]>;
}

interface ChannelProbe {
  readonly state: "ok" | "note" | "broken";
  readonly say: string;
}

interface ProbeResult {
  readonly ok: boolean;
  readonly say: string;
  /** Of the package it belongs to; absent: it belongs to none. */
  readonly version?: string;
}

const PROBE_MS = 30_000;
const ASK_PLATFORM_MS = 10_000;
const MAX_LEVELS_UP = 4;
const PACKAGE_LIMITS = { maxChars: 64 * 1024, maxDepth: 16 };
const LOOPBACK = "127.0.0.1";

export const systemProbes: DoctorProbes = {
  bunVersion: Bun.version,
  pi: probeAgent,
  sandbox: probeSandbox,
  async freeBytes(path) {
    try {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    } catch {
      return null; // not every file system tells
    }
  },
  portIsFree(port) {
    try {
      Bun.listen({ hostname: LOOPBACK, port, socket: { data() {} } }).stop(true);
      return true;
    } catch {
      return false; // taken, or not allowed: either way the gateway could not use it
    }
  },
  now: () => systemClock.now(),
  discord: probeDiscord,
  telegram: probeTelegram,
};

const NO_TOKEN: Readonly<Record<"telegram" | "discord", ChannelProbe>> = {
  telegram: {
    state: "broken",
    say: "channels.telegram has settings but no botToken, so there is no bot. Send /newbot to @BotFather, and put the token it gives you there.",
  },
  discord: {
    state: "broken",
    say: "channels.discord has settings but no token, so there is no bot. Copy it from the Bot page of Discord's developer portal.",
  },
};

/** Somebody has said something about this channel: it differs from what holds when nothing is said. */
async function isSetUp<N extends keyof typeof NO_TOKEN>(name: N, section: Config["channels"][N]): Promise<boolean> {
  const { checkConfigText } = await import("../../config/index.ts");
  const untouched = checkConfigText("{}", () => undefined).config?.channels[name];
  return JSON.stringify(section) !== JSON.stringify(untouched);
}

async function probeTelegram({ clock }: CliWorld, { channels }: Config): Promise<readonly ChannelProbe[]> {
  const { telegram } = channels;
  if (!telegram.enabled) return [];
  if (telegram.botToken === undefined && Object.keys(telegram.accounts).length === 0)
    return (await isSetUp("telegram", telegram)) ? [NO_TOKEN.telegram] : [];
  const { checkTelegram } = await import("../../channels/telegram/index.ts");
  using limit = clock.deadline(ASK_PLATFORM_MS, () => new Error("Telegram did not answer"));
  const STATES = { ok: "ok", warning: "note", problem: "broken" } as const;
  const found = await checkTelegram({ clock }, telegram, limit.signal);
  return found.map(({ account, state, say }) => ({
    state: STATES[state],
    say: account === "default" ? say : `${account}: ${say}`,
  }));
}

async function probeDiscord({ clock }: CliWorld, { channels }: Config): Promise<ChannelProbe | null> {
  const { enabled, token, apiRoot } = channels.discord;
  if (!enabled) return null;
  if (token === undefined) return (await isSetUp("discord", channels.discord)) ? NO_TOKEN.discord : null;
  const { checkDiscord } = await import("../../channels/discord/index.ts");
  using limit = clock.deadline(ASK_PLATFORM_MS, () => new Error("Discord did not answer"));
  const guilds = Object.keys(channels.discord.guilds);
  return await checkDiscord({ token, guilds, ...(apiRoot === undefined ? {} : { apiRoot }) }, limit.signal);
}

const UNKNOWN: SandboxReport = { tier: "none", because: "It cannot be tried from here.", leaks: [], advice: null };

async function probeSandbox(world: CliWorld): Promise<SandboxReport> {
  const { clock, assets } = world;
  if (!assets) return UNKNOWN;
  const { createSandbox } = await import("../../sandbox/index.ts");
  const home = await mkdtemp(join(tmpdir(), "pi-gateway-doctor-"));
  try {
    const { bun, bunEnv } = assets;
    const launcher = await assets.sandboxPath(home);
    const { report } = await createSandbox({ clock }, { home, bun, bunEnv, launcher }).wall();
    return report;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** In a folder of its own, so that a look never disturbs a running gateway or its files. */
async function probeAgent(
  world: CliWorld,
  { config }: { readonly home: string; readonly config: Config },
): Promise<ProbeResult> {
  const { findPi, probePi } = await import("../../agents/index.ts");
  const { clock, ids, environment, assets } = world;
  const bun = assets?.bun ?? [process.execPath, "--no-env-file"];
  const found = findPi({ piPath: config.agent.piPath, execPath: process.execPath, environment, bun });
  if (found.kind === "missing") {
    const places = found.looked.map(({ where, result }) => `${where}: ${result}`).join("; ");
    return { ok: false, say: `${found.say} Looked at: ${places}` };
  }
  const version = await versionBeside(found.file);
  const name = `${version === undefined ? "" : `${version} `}at ${found.file}`;
  const about = version === undefined ? {} : { version };
  if (!assets) return { ok: true, say: name, ...about };

  const home = await mkdtemp(join(tmpdir(), "pi-gateway-doctor-"));
  using limit = clock.deadline(PROBE_MS, () => new Error("pi did not answer"));
  try {
    const bridgePath = await assets.bridgePath(home);
    const options = {
      home,
      config: config.agent,
      models: config.models,
      environment,
      bridgePath,
      bun,
      bunEnv: assets.bunEnv,
    };
    const probe = await probePi({ clock, ids, log: silentLog }, options, limit.signal);
    if (probe.kind === "ok") return { ok: true, say: `${name}, answered in ${probe.ms} ms`, ...about };
    return { ok: false, say: `${name}: ${probe.say} (${probe.detail})` };
  } catch (error) {
    const because = isGatewayError(error) ? error.say : error instanceof Error ? error.message : String(error);
    return { ok: false, say: `${name} could not be tried: ${because}` };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** From the package the file belongs to; undefined when it belongs to none. */
async function versionBeside(file: string): Promise<string | undefined> {
  let folder = dirname(file);
  for (let level = 0; level < MAX_LEVELS_UP; level++) {
    const parsed = parseJson((await readSmall(join(folder, "package.json"))) ?? "", PACKAGE_LIMITS);
    const version = parsed.ok ? textOf(recordOf(parsed.value)["version"]) : "";
    if (version !== "") return version;
    folder = dirname(folder);
  }
  return undefined;
}
