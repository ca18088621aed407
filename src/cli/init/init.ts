/** `pi-gw init`: asks for a model, a channel and an owner, tries each for real, and writes a commented configuration. Replaces nothing without being told. */
import { join } from "node:path";
import type { ChannelWish, ModelWish, SetupTest, SetupWishes } from "../../contracts/setup.ts";
import { visible } from "../../observe/index.ts";
import { printList } from "../ask-gateway.ts";
import { askNoYes } from "../ask-person.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { textOf } from "../read-value.ts";
import { homeOf, MAX_CONFIG_BYTES, readSmall } from "../state-directory.ts";
import { tellGateway } from "../tell-gateway.ts";
import type { CliWorld } from "../world.ts";
import { type InitFlags, refused, wishesOfFlags } from "./choices.ts";
import { askWishes } from "./questions.ts";

/** Tries of the outside; replaced in tests. */
export interface InitProbes {
  model(world: CliWorld, wish: ModelWish, signal: AbortSignal): Promise<SetupTest>;
  channel(world: CliWorld, wish: ChannelWish, signal: AbortSignal): Promise<SetupTest>;
}

/** These modules are loaded here and not above: they are the slowest to load. */
const configDoor = () => import("../../config/index.ts");
const setupDoor = () => import("../../setup/index.ts");

const systemInitProbes: InitProbes = {
  async model({ clock, environment, cwd }, wish, signal) {
    const { testModel } = await setupDoor();
    return testModel({ clock, logins: { userHome: environment.userHome, folder: cwd } }, wish, signal);
  },
  async channel({ clock }, wish, signal) {
    const { testChannel } = await setupDoor();
    return testChannel({ clock }, wish, (await configDoor()).defaultConfig().channels, signal);
  },
};

export async function init(world: CliWorld, flags: InitFlags): Promise<number> {
  if (flags.check) return printChecks(world, flags);
  const { findConfigFile } = await configDoor();
  const home = homeOf(flags.home, world.environment);
  const file = findConfigFile({ home, flag: flags.config, cwd: world.cwd }) ?? join(home, "pi-gateway.jsonc");
  const before = await readSmall(file, MAX_CONFIG_BYTES);
  if (
    before !== null &&
    !flags.replace &&
    !(await askNoYes(world, `${file} is there already. Replace it? A copy is kept.`))
  )
    throw refused(`${file} is there already and was left as it is. Replace it with --replace; a copy is kept then.`);
  const wishes = (await wishesOfFlags(flags)) ?? (world.isTerminal ? await askWishes(world) : null);
  if (wishes === null)
    throw refused(`Say which model: --demo, --provider, --endpoint or --pi-login. See: pi-gw init --help`);
  const tested = flags.test === false ? { ok: true, models: [] } : await testAll(world, wishes);
  if (!tested.ok) {
    world.stderr("Nothing was written. Try again, or write it all the same with --no-test.\n");
    return EXIT_FAILED;
  }
  await write({ home, file, before }, wishes, tested.models);
  world.stdout(flags.json ? `${JSON.stringify({ written: file })}\n` : `${visible(`Written: ${file}`)}\n`);
  if (!flags.json) world.stderr(`${nextSteps(wishes)}\n`);
  await tellGateway(world, flags);
  return EXIT_OK;
}

/** What is set up and what is not, of the gateway that runs. */
function printChecks(world: CliWorld, flags: InitFlags): Promise<number> {
  return printList(world, flags, "/api/setup", {
    line: ({ check, done, say }) =>
      visible(`${done === true ? "done" : "open"}  ${textOf(check).padEnd(13)}  ${textOf(say)}`),
    none: "The gateway does not say what is set up.",
  });
}

async function testAll(world: CliWorld, { model, channel }: SetupWishes): Promise<Pick<SetupTest, "ok" | "models">> {
  const probes = world.initProbes ?? systemInitProbes;
  const { signal } = new AbortController(); // each try has a limit of its own
  const tell = (step: string, { ok, say }: SetupTest) =>
    world.stderr(`${visible(`${step.padEnd(8)}  ${ok ? "ok" : "broken"}: ${say}`)}\n`);
  const answers = model === null ? null : await probes.model(world, model, signal);
  if (answers) tell("model", answers);
  if (answers && !answers.ok) return answers;
  const models = answers?.models ?? [];
  if (channel === null) return { ok: true, models };
  const bot = await probes.channel(world, channel, signal);
  tell("channel", bot);
  return { ok: bot.ok, models };
}

interface Place {
  readonly home: string;
  readonly file: string;
  /** Null: there is no file yet. */
  readonly before: string | null;
}

async function write({ home, file, before }: Place, wishes: SetupWishes, listed: readonly string[]): Promise<void> {
  const [config, setup] = await Promise.all([configDoor(), setupDoor()]);
  const { model } = wishes;
  const keyFile = model?.kind === "key" ? config.keyFileOf(home, model.provider) : null;
  const given = { modelId: setup.modelChosen(model, listed), keyFile, config: config.defaultConfig() };
  const text = config.editText(config.FIRST_TEXT, setup.setupEdits(wishes, given));
  const { problems } = config.checkConfigText(text, () => undefined);
  if (problems.length > 0)
    throw refused(problems.map((problem) => config.formatProblem(problem, "the new configuration")).join("\n"));
  if (keyFile !== null && model?.kind === "key") await config.writeKeyFile(keyFile, model.key);
  const edited = await config.replaceConfig(file, text, before);
  if (edited.kind === "refused") throw refused(edited.problems.join("\n"));
}

function nextSteps({ channel, owners }: SetupWishes): string {
  const steps = [
    "Next: npm start, or as a service: pi-gw service install",
    "Look after it with: pi-gw doctor, pi-gw backup",
  ];
  if (channel !== null && owners.length === 0)
    steps.push(
      "Write to the bot: it answers with a code. Make yourself owner with: pi-gw pairing approve CODE --role owner",
    );
  return steps.join("\n");
}
