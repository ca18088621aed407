/** `pi-gw init`: asks for a model, a channel and an owner, tries each for real, and writes a commented configuration. Replaces nothing without being told. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { visible } from "../../observe/index.ts";
import { askNoYes } from "../ask-person.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf, MAX_CONFIG_BYTES, readSmall } from "../state-directory.ts";
import { tellGateway } from "../tell-gateway.ts";
import type { CliWorld } from "../world.ts";
import { type InitFlags, refused, type Wishes, wishesOfFlags } from "./choices.ts";
import { configText } from "./config-text.ts";
import { type InitProbes, systemInitProbes } from "./live-tests.ts";
import { askWishes } from "./questions.ts";

const TEST_MS = 15_000;
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/** Of what a provider lists, when nobody has said which: the first whose name begins so. */
const GOOD_MODELS = [
  "claude-sonnet",
  "claude",
  "gpt-5",
  "gpt-4",
  "gemini-2.5-pro",
  "gemini",
  "mistral-large",
  "grok",
  "deepseek-chat",
  "llama",
];

/** The module is loaded here and not above: it is the slowest to load. */
const configDoor = () => import("../../config/index.ts");

export async function init(world: CliWorld, flags: InitFlags): Promise<number> {
  const probes = world.initProbes ?? systemInitProbes;
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
  const tested = flags.test === false ? { ok: true, models: [] } : await tryModel(world, wishes, probes);
  if (!tested.ok) return EXIT_FAILED;
  const text = await textOf(home, wishes, tested.models);
  if (flags.test !== false && !(await tryChannels(world, { text, wishes, probes }))) return EXIT_FAILED;
  await write(home, { file, text, before, wishes });
  world.stdout(flags.json ? `${JSON.stringify({ written: file })}\n` : `${visible(`Written: ${file}`)}\n`);
  if (!flags.json) world.stderr(`${nextSteps(wishes)}\n`);
  await tellGateway(world, flags);
  return EXIT_OK;
}

async function tryModel(world: CliWorld, { model }: Wishes, probes: InitProbes) {
  using limit = world.clock.deadline(TEST_MS, () => new Error("no answer within 15 seconds"));
  const tested = await probes.models(world, model, limit.signal);
  world.stderr(`${visible(`model     ${tested.ok ? "ok" : "broken"}: ${tested.say}`)}\n`);
  if (!tested.ok) world.stderr("Nothing was written. Try again, or write it all the same with --no-test.\n");
  return tested;
}

interface Draft {
  readonly text: string;
  readonly wishes: Wishes;
  readonly probes: InitProbes;
}

/** The configuration as it would be is what the platforms are asked about. */
async function tryChannels(world: CliWorld, { text, wishes, probes }: Draft): Promise<boolean> {
  const { checkConfigText } = await configDoor();
  const { config } = checkConfigText(text, world.environment.variables);
  if (wishes.channel === null || config === null) return true;
  const results = await probes.channels(world, config);
  for (const { ok, say } of results) world.stderr(`${visible(`channel   ${ok ? "ok" : "broken"}: ${say}`)}\n`);
  const works = results.every(({ ok }) => ok);
  if (!works) world.stderr("Nothing was written. Try again, or write it all the same with --no-test.\n");
  return works;
}

async function textOf(home: string, wishes: Wishes, listed: readonly string[]): Promise<string> {
  const { model } = wishes;
  const needsId = model.kind === "key" || model.kind === "endpoint";
  const modelId = needsId ? (model.model ?? goodModel(listed)) : null;
  if (needsId && modelId === null) throw refused("Say which model with --model: none is listed.");
  const { checkConfigText, formatProblem } = await configDoor();
  const text = configText({ ...wishes, modelId, keyFile: keyFileOf(home, wishes) });
  const { problems } = checkConfigText(text, () => undefined);
  if (problems.length === 0) return text;
  throw refused(problems.map((problem) => formatProblem(problem, "the new configuration")).join("\n"));
}

function goodModel(listed: readonly string[]): string | null {
  const good = GOOD_MODELS.map((begin) => listed.find((id) => (id.split("/").at(-1) ?? "").startsWith(begin)));
  return good.find((id) => id !== undefined) ?? listed[0] ?? null;
}

function keyFileOf(home: string, { model }: Wishes): string | null {
  return model.kind === "key" ? join(home, "keys", model.provider) : null;
}

interface Written {
  readonly file: string;
  readonly text: string;
  readonly before: string | null;
  readonly wishes: Wishes;
}

async function write(home: string, { file, text, before, wishes }: Written): Promise<void> {
  const keyFile = keyFileOf(home, wishes);
  if (keyFile !== null && wishes.model.kind === "key") {
    await mkdir(dirname(keyFile), { recursive: true, mode: PRIVATE_FOLDER });
    await writeFile(keyFile, `${wishes.model.key.reveal()}\n`, { mode: PRIVATE_FILE });
  }
  const { replaceConfig } = await configDoor();
  const edited = await replaceConfig(file, text, before);
  if (edited.kind === "refused") throw refused(edited.problems.join("\n"));
}

function nextSteps({ channel, owners }: Wishes): string {
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
