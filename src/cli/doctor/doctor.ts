/** `pi-gw doctor`: asks the running gateway first, looks at everything else a gateway needs, and says for each thing that it is fine or what to do. Changes nothing without --fix. */
import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isGatewayError } from "../../contracts/errors.ts";
import type { Config } from "../../config/index.ts";
import { visible } from "../../observe/index.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf, MAX_CONFIG_BYTES, readSmall } from "../state-directory.ts";
import { recordOf, textOf } from "../read-value.ts";
import { styled } from "../style.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { checkAtRest } from "./at-rest.ts";
import type { Check } from "./check.ts";
import { fixAll } from "./fix.ts";
import { type DoctorProbes, systemProbes } from "./probes.ts";
import { sandboxCheck } from "./sandbox-check.ts";
import { type Answer, askRunning, checkGateway, checkRunning, type RunningAnswer } from "./running.ts";

export interface DoctorFlags extends CommonFlags {
  readonly config?: string;
  /** Mends what can be mended without a decision. */
  readonly fix?: boolean;
}

interface Scene {
  readonly world: CliWorld;
  readonly probes: DoctorProbes;
  readonly home: string;
  readonly config: Config;
  readonly answer: Answer;
}

const NEEDED_BUN = ">=1.3.0";
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
    else world.stdout(`${styled(world, state, state.padEnd(7))} ${check.padEnd(16)} ${visible(say)}\n`);
  };

  print(checkBun(probes));
  const answer = await askRunning(world, flags.home);
  print(checkGateway(answer, world.version, isAlive));
  const file = flags.config ?? (answer.kind === "running" ? fileOf(answer) : undefined);
  const { checks, config } = await checkConfigFile(world, home, file);
  const scene: Scene = { world, probes, home, config, answer };
  if (flags.fix) {
    const isRunning = answer.kind === "running";
    const hasDatabaseFile = config.store.url === undefined;
    for await (const check of fixAll({ world, home, isRunning, hasDatabaseFile })) print(check);
  }
  if (answer.kind === "running") {
    checkRunning(answer).forEach(print);
    differencesHere(answer, checks).forEach(print);
    if (await sameChannels(answer, scene))
      for await (const { state, ...check } of checkPlatforms(scene))
        print({ ...check, state: state === "broken" ? "note" : state }); // the gateway's own line about the channel decides
  } else {
    checks.forEach(print);
    for await (const check of checkStart(scene)) print(check);
    for await (const check of checkAtRest({ world, home, config, now: probes.now?.() })) print(check);
  }
  if (answer.kind === "running" && answer.checks.length > 0) (await checkDatabase(scene)).forEach(print);
  else
    for (const check of [await checkHome(scene), ...(await checkDatabase(scene)), await checkSpace(scene)])
      print(check);
  if (!flags.json)
    world.stdout(broken ? "\nSomething needs your attention: see the lines marked broken.\n" : "\nAll is well.\n");
  return broken ? EXIT_FAILED : EXIT_OK;
}

/** What a start from this shell would use: only looked at while no gateway runs, whose own answer is the truth. */
async function* checkStart(scene: Scene): AsyncGenerator<Check> {
  const { world, home, config } = scene;
  yield await checkAgent(scene);
  yield await checkSandbox(scene);
  yield await checkModel(scene);
  yield* checkPlatforms(scene);
  yield checkPort(scene);
  const { checkPlugins } = await import("../check-plugins.ts");
  for (const finding of await checkPlugins(world, home, config)) yield { check: "plugins", ...finding };
}

/** Asks the platforms themselves about the bots that this shell's configuration names. */
async function* checkPlatforms({ world, probes, config }: Scene): AsyncGenerator<Check> {
  const discord = await probes.discord?.(world, config);
  if (discord) yield { check: "discord", ...discord };
  for (const { state, say } of (await probes.telegram?.(world, config)) ?? []) yield { check: "telegram", state, say };
}

/** Whether this shell reads the same channels as the running gateway, so that a question about them is about its bots. */
async function sameChannels({ settings }: RunningAnswer, { config }: Scene): Promise<boolean> {
  const { publicConfig } = await import("../../config/index.ts");
  return Bun.deepEquals(settings["channels"], recordOf(publicConfig(config))["channels"]);
}

function fileOf({ status }: RunningAnswer): string | undefined {
  return textOf(recordOf(status["config"])["file"]) || undefined;
}

/** Problems that only this shell has with the file: another start from here would not be like the one that runs. */
function differencesHere({ status }: RunningAnswer, checks: readonly Check[]): readonly Check[] {
  if (recordOf(status["config"])["applied"] !== true) return []; // its own problems are printed already
  return checks
    .filter(({ state }) => state !== "ok")
    .map(({ say }) => ({
      check: "this shell",
      state: "note",
      say: `${say} The running gateway does not have this problem.`,
    }));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // not there, or somebody else's
  }
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
  const { checkConfigText, findConfigFile, formatProblem } = await import("../../config/index.ts");
  const say = (state: Check["state"], text: string): Check => ({ check: "configuration", state, say: text });
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

async function checkAgent({ world, probes, home, config }: Scene): Promise<Check> {
  const { ok, say, version } = await probes.pi(world, { home, config });
  const tested = world.piVersion;
  if (!ok || version === undefined || tested === undefined || version === tested)
    return { check: "pi", state: ok ? "ok" : "broken", say };
  return { check: "pi", state: "note", say: `${say}. This gateway is tested with pi ${tested}.` };
}

async function checkSandbox({ world, probes, config }: Scene): Promise<Check> {
  const { tier, because, leaks, advice } = await probes.sandbox(world);
  return sandboxCheck({ setting: config.agent.sandbox, tier, because, leaks, advice });
}

async function checkModel({ world, config }: Scene): Promise<Check> {
  const { chooseModel } = await import("../../agents/index.ts");
  const choice = chooseModel(config, world.environment);
  const say = (state: Check["state"], text: string): Check => ({ check: "model", state, say: text });
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
      const { providers, held } = choice.access;
      const keyed = providers.length > 0 || Object.keys(held).length > 0;
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

function checkPort({ probes, config }: Scene): Check {
  const { port } = config.gateway;
  const say = (state: Check["state"], text: string): Check => ({ check: "port", state, say: text });
  if (port === 0) return say("ok", "any free one (0)");
  if (probes.portIsFree(port)) return say("ok", `${port} is free; no gateway is running on this state directory`);
  return say(
    "broken",
    `${port} is in use by another program. Stop that program, or choose another with --port or gateway.port.`,
  );
}

async function checkHome({ home, answer }: Scene): Promise<Check> {
  const say = (state: Check["state"], text: string): Check => ({ check: "state directory", state, say: text });
  const found = await lstat(home).catch(() => null);
  if (!found) return say("ok", `${home} is made at the first start`);
  if (!found.isDirectory()) return say("broken", `${home} is a link or not a folder. Choose another with --home.`);
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid)
    return say("broken", `${home} belongs to another user. Choose another with --home.`);
  const use = answer.kind === "running" ? "in use by the running gateway" : "not in use";
  if ((found.mode & 0o077) !== 0)
    return say("note", `${home}, ${use}; others may look into it. The next start closes it, or run: chmod 700 ${home}`);
  return say("ok", `${home}, private, ${use}`);
}

async function checkDatabase({ world, home, config }: Scene): Promise<readonly Check[]> {
  const { checkPostgres, checkStore } = await import("../../store/index.ts");
  const { url } = config.store;
  if (url !== undefined)
    return (await checkPostgres(world, url)).map((finding): Check => ({ check: "database", ...finding }));
  const { kept, ...found } = await checkStore(home);
  const { kind, say } = found;
  const works = kind === "missing" || (found.kind === "ok" && !found.indexDamaged);
  const state = works ? "ok" : kind === "ok" ? "note" : "broken";
  return [
    { check: "database", state, say },
    ...kept.map((text): Check => ({ check: "database", state: "note", say: text })),
  ];
}

async function checkSpace({ probes, home }: Scene): Promise<Check> {
  const free = (await probes.freeBytes(home)) ?? (await probes.freeBytes(dirname(home)));
  const say = (state: Check["state"], text: string): Check => ({ check: "disk space", state, say: text });
  if (free === null) return say("note", "not known");
  const space = `${Math.floor(free / MB).toLocaleString("en")} MB free`;
  if (free < NO_SPACE_BYTES) return say("broken", `${space}. New messages are refused when it is full. Make room.`);
  return free < LITTLE_SPACE_BYTES ? say("note", `${space}. Make room soon.`) : say("ok", space);
}
