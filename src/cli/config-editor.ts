/** `pi-gw config edit`: a copy of the file in an editor, checked before it takes the place of the file. A text that is not valid is never lost, and never counts. */
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import { visible } from "../observe/index.ts";
import { askYesNo } from "./ask-person.ts";
import type { ConfigFlags } from "./config-command.ts";
import { EXIT_CONFIG, EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { homeOf, MAX_CONFIG_BYTES, readSmall } from "./state-directory.ts";
import { tellGateway } from "./tell-gateway.ts";
import type { CliWorld } from "./world.ts";

const PRIVATE_FILE = 0o600;
const FIRST_TEXT = `// Settings of pi-gateway. All of them, with their defaults: docs/reference/config.md
{
}
`;

/** The module is loaded here and not above: it is the slowest to load. */
const configDoor = () => import("../config/index.ts");

export async function configEdit(world: CliWorld, flags: ConfigFlags): Promise<number> {
  const { findConfigFile } = await configDoor();
  const home = homeOf(flags.home, world.environment);
  const file = findConfigFile({ home, flag: flags.config, cwd: world.cwd }) ?? join(home, "pi-gateway.jsonc");
  const before = await readSmall(file, MAX_CONFIG_BYTES);
  const copy = `${file}.edit-${world.ids.next("copy")}.jsonc`; // an editor tells by the name what is in it
  await writeFile(copy, before ?? FIRST_TEXT, { mode: PRIVATE_FILE, flag: "wx" });
  await chmod(copy, PRIVATE_FILE);
  const text = await editUntilValid(world, copy, file);
  if (text === null) {
    world.stderr(`${visible(`${file} was not changed. What you wrote is in ${copy}.`)}\n`);
    return EXIT_CONFIG;
  }
  if (text === (before ?? FIRST_TEXT)) {
    await rm(copy, { force: true });
    return told(world, flags, { file, changed: false, backup: null }, `${file} was not changed.`);
  }
  const { replaceConfig } = await configDoor();
  const edited = await replaceConfig(file, text, before);
  if (edited.kind === "refused") {
    for (const problem of edited.problems) world.stderr(`${visible(problem)}\n`);
    world.stderr(`${visible(`What you wrote is in ${copy}.`)}\n`);
    return EXIT_FAILED;
  }
  await rm(copy, { force: true });
  const { path, backup } = edited;
  const kept = backup === null ? "" : ` The file as it was is ${backup}.`;
  told(world, flags, { file: path, changed: true, backup }, `${path} is changed.${kept}`);
  await tellGateway(world, flags);
  return EXIT_OK;
}

/** Null: it has problems, and the person leaves it at that. */
async function editUntilValid(world: CliWorld, copy: string, file: string): Promise<string | null> {
  const { checkConfigText, formatProblem } = await configDoor();
  for (;;) {
    await runEditor(world, copy);
    const text = (await readSmall(copy, MAX_CONFIG_BYTES)) ?? "";
    const { problems, warnings } = checkConfigText(text, world.environment.variables);
    for (const problem of [...problems, ...warnings]) world.stderr(`${visible(formatProblem(problem, file))}\n`);
    if (problems.length === 0) return text;
    if (!(await askYesNo(world, "The settings are not valid. Edit them again?"))) return null;
  }
}

async function runEditor(world: CliWorld, copy: string): Promise<void> {
  const { variables } = world.environment;
  const editor = variables("VISUAL") || variables("EDITOR") || "vi";
  // by the shell, because the setting may have options in it: "code --wait"
  const run = Bun.spawn(["sh", "-c", `${editor} "$1"`, "sh", copy], { stdio: ["inherit", "inherit", "inherit"] });
  const code = await run.exited;
  if (code === 0) return;
  await rm(copy, { force: true });
  throw new GatewayError("bad_request", "the editor failed", {
    say: `The editor (${editor}) ended with ${code}; nothing was changed. Choose another with the variable EDITOR.`,
  });
}

function told(world: CliWorld, flags: ConfigFlags, record: object, sentence: string): number {
  world.stdout(`${flags.json ? JSON.stringify(record) : visible(sentence)}\n`);
  return EXIT_OK;
}
