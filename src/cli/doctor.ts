/** `pi-gw doctor`: looks at everything a gateway needs and says for each thing that it is fine or what to do. Changes nothing. */
import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isGatewayError } from "../contracts/errors.ts";
import type { Config } from "../config/index.ts";
import { visible } from "../observe/index.ts";
import { createClient } from "./client.ts";
import { type DoctorProbes, systemProbes } from "./doctor-probes.ts";
import { EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { findGateway, homeOf, MAX_CONFIG_BYTES, readSmall } from "./home.ts";
import { type Fields, listOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface DoctorFlags extends CommonFlags {
  readonly config?: string;
}

interface Check {
  readonly check: string;
  /** `note`: works, but worth knowing. `broken`: the gateway would not work well like this. */
  readonly state: "ok" | "note" | "broken";
  readonly say: string;
}

interface Scene {
  readonly world: CliWorld;
  readonly probes: DoctorProbes;
  readonly home: string;
  readonly config: Config;
  /** The address of the gateway that runs on this home and answered; null when none does. */
  readonly runningAt: string | null;
  /** The tools of that gateway; none when none answered. */
  readonly tools: readonly Fields[];
}

const NEEDED_BUN = ">=1.3.0";
const ASK_GATEWAY_MS = 3_000;
const MB = 1024 * 1024;
const LITTLE_SPACE_BYTES = 500 * MB;
const NO_SPACE_BYTES = 50 * MB;

export async function doctor(world: CliWorld, flags: DoctorFlags): Promise<number> {
  const probes = world.doctorProbes ?? systemProbes;
  const home = homeOf(flags.home, world.environment);
  let broken = false;
  const print = ({ check, state, say }: Check): void => {
    broken ||= state === "broken";
    if (flags.json) world.stdout(`${JSON.stringify({ check, state, say })}\n`);
    else world.stdout(`${state.padEnd(7)} ${check.padEnd(16)} ${visible(say)}\n`);
  };

  print(checkBun(probes));
  const { checks, config } = await checkConfigFile(world, home, flags.config);
  checks.forEach(print);
  const scene: Scene = { world, probes, home, config, ...(await askRunning(world, flags)) };
  print(await checkAgent(scene));
  print(await checkModel(scene));
  const discord = await probes.discord?.(world, scene.config);
  if (discord) print({ check: "discord", ...discord });
  for (const { state, say } of (await probes.telegram?.(world, scene.config)) ?? [])
    print({ check: "telegram", state, say });
  print(checkPort(scene));
  print(await checkHome(scene));
  (await checkDatabase(scene)).forEach(print);
  print(await checkSpace(scene));
  const { checkPlugins } = await import("./plugins/check-plugins.ts");
  for (const found of await checkPlugins(world, home, config)) print({ check: "plugins", ...found });
  checkTools(scene).forEach(print);
  if (!flags.json)
    world.stdout(broken ? "\nSomething needs your attention: see the lines marked broken.\n" : "\nAll is well.\n");
  return broken ? EXIT_FAILED : EXIT_OK;
}

function checkBun({ bunVersion }: DoctorProbes): Check {
  if (Bun.semver.satisfies(bunVersion, NEEDED_BUN)) return { check: "bun", state: "ok", say: bunVersion };
  return { check: "bun", state: "broken", say: `${bunVersion} is too old; ${NEEDED_BUN} is needed. Run: npm install` };
}

/** Gives the settings the other checks go by: those of the file, or the defaults while the file is broken. */
async function checkConfigFile(
  world: CliWorld,
  home: string,
  flag: string | undefined,
): Promise<{ readonly checks: readonly Check[]; readonly config: Config }> {
  const { checkConfigText, findConfigFile, formatProblem } = await import("../config/index.ts");
  const say = (state: Check["state"], words: string): Check => ({ check: "configuration", state, say: words });
  const fallback = (): Config => {
    const { config } = checkConfigText("{}", world.environment.variables);
    if (!config) throw new Error("the default configuration is not valid");
    return config;
  };
  try {
    const file = findConfigFile({ home, flag, cwd: world.cwd });
    if (file === null) return { checks: [say("ok", "no file, the defaults are used")], config: fallback() };
    const text = await readSmall(file, MAX_CONFIG_BYTES);
    if (text === null) {
      return { checks: [say("broken", `${file} cannot be read. Give your user access to it.`)], config: fallback() };
    }
    const { config, problems, warnings } = checkConfigText(text, world.environment.variables);
    const lines = [
      ...problems.map((problem) => say("broken", formatProblem(problem, file))),
      ...warnings.map((warning) => say("note", formatProblem(warning, file))),
    ];
    if (config) return { checks: [say("ok", file), ...lines], config };
    const lastGood = await readSmall(join(home, "config.last-good.jsonc"), MAX_CONFIG_BYTES);
    const until =
      lastGood === null ? "The gateway does not start until it is right." : "Until then the last good one is used.";
    const head = say("broken", `${file} is not valid. ${until}`);
    const kept = lastGood === null ? null : checkConfigText(lastGood, world.environment.variables).config;
    return { checks: [head, ...lines], config: kept ?? fallback() };
  } catch (error) {
    if (isGatewayError(error)) return { checks: [say("broken", error.say)], config: fallback() };
    throw error;
  }
}

async function askRunning(world: CliWorld, flags: DoctorFlags): Promise<Pick<Scene, "runningAt" | "tools">> {
  using limit = world.clock.deadline(ASK_GATEWAY_MS, () => new Error("no answer"));
  try {
    const client = createClient(await findGateway(world, flags.home));
    await client.get("/api/status", limit.signal);
    const { tools } = await client.get("/api/tools", limit.signal);
    return { runningAt: client.gateway.url, tools: listOf(tools).map(recordOf) };
  } catch {
    return { runningAt: null, tools: [] }; // not running, not answering or not ours: the port check says which
  }
}

/** Only a running gateway knows the tools of plugins: nothing of them is loaded here. */
function checkTools({ tools, runningAt }: Scene): readonly Check[] {
  if (runningAt === null) return [];
  const notices = tools.flatMap((tool): Check[] => {
    const of = `${textOf(tool["name"])} of ${textOf(tool["plugin"])}`;
    const reason = tool["status"] === "quarantined" ? [`${of} is quarantined: ${textOf(tool["reason"])}`] : [];
    const others = listOf(tool["notices"]).map((notice) => `${of}: ${textOf(notice)}`);
    return [...reason, ...others].map((say) => ({ check: "tools", state: "note", say }));
  });
  return [{ check: "tools", state: "ok", say: `${tools.length} are registered` }, ...notices];
}

async function checkAgent({ world, probes, home, config }: Scene): Promise<Check> {
  const { ok, say } = await probes.pi(world, { home, config });
  return { check: "pi", state: ok ? "ok" : "broken", say };
}

async function checkModel({ world, config }: Scene): Promise<Check> {
  const { chooseModel } = await import("../agents/index.ts");
  const choice = chooseModel(config, world.environment);
  const say = (state: Check["state"], words: string): Check => ({ check: "model", state, say: words });
  switch (choice.kind) {
    case "demo":
      return say(
        "note",
        `the demo model answers (${choice.because}). For a real one set a provider's key, such as ANTHROPIC_API_KEY.`,
      );
    case "login":
      return say("ok", `whatever the pi login in ${choice.agentDir} says`);
    case "provider-default":
      return say("ok", `the default model of ${choice.provider} (${choice.because})`);
    case "configured": {
      const name = `${choice.provider}/${choice.model}`;
      const keyed = Object.keys(choice.keys).length > 0 || config.models.providers[choice.provider] !== undefined;
      if (keyed) return say("ok", `${name} (${choice.because})`);
      if (config.agent.agentDir !== undefined)
        return say("ok", `${name}, with the pi login in ${config.agent.agentDir}`);
      return say(
        "note",
        `${name} has no key here. Set the key of ${choice.provider} in the environment, or use a pi login with agent.agentDir.`,
      );
    }
  }
}

function checkPort({ probes, config, runningAt }: Scene): Check {
  const { port } = config.gateway;
  const say = (state: Check["state"], words: string): Check => ({ check: "port", state, say: words });
  if (runningAt !== null) return say("ok", `this gateway is running at ${runningAt}`);
  if (port === 0) return say("ok", "any free one (0)");
  if (probes.portIsFree(port)) return say("ok", `${port} is free; no gateway is running on this state directory`);
  return say(
    "broken",
    `${port} is in use by another program. Stop that program, or choose another with --port or gateway.port.`,
  );
}

async function checkHome({ home, runningAt }: Scene): Promise<Check> {
  const say = (state: Check["state"], words: string): Check => ({ check: "state directory", state, say: words });
  const found = await lstat(home).catch(() => null);
  if (!found) return say("ok", `${home} is made at the first start`);
  if (!found.isDirectory()) return say("broken", `${home} is a link or not a folder. Choose another with --home.`);
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid)
    return say("broken", `${home} belongs to another user. Choose another with --home.`);
  const use = runningAt === null ? "not in use" : "in use by the running gateway";
  if ((found.mode & 0o077) !== 0)
    return say("note", `${home}, ${use}; others may look into it. The next start closes it, or run: chmod 700 ${home}`);
  return say("ok", `${home}, private, ${use}`);
}

async function checkDatabase({ home }: Scene): Promise<readonly Check[]> {
  const { checkStore } = await import("../store/index.ts");
  const { kind, say, kept } = await checkStore(home);
  const state = kind === "ok" || kind === "missing" ? "ok" : "broken";
  return [
    { check: "database", state, say },
    ...kept.map((words): Check => ({ check: "database", state: "note", say: words })),
  ];
}

async function checkSpace({ probes, home }: Scene): Promise<Check> {
  const free = (await probes.freeBytes(home)) ?? (await probes.freeBytes(dirname(home)));
  const say = (state: Check["state"], words: string): Check => ({ check: "disk space", state, say: words });
  if (free === null) return say("note", "not known");
  const words = `${Math.floor(free / MB).toLocaleString("en")} MB free`;
  if (free < NO_SPACE_BYTES) return say("broken", `${words}. New messages are refused when it is full. Make room.`);
  return free < LITTLE_SPACE_BYTES ? say("note", `${words}. Make room soon.`) : say("ok", words);
}
