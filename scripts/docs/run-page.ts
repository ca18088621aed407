/**
 * Runs the commands of one page as they are written, in one shell, against a real gateway in a home folder of its own. Three things differ from
 * what a reader does: the port is a free one, `curl` fails when the gateway answers with an error, and no process of an agent waits ready.
 */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { type Block, blocksOf, MAIN_PAGES, PROJECT } from "./blocks.ts";
import { missingLine } from "./outputs.ts";
import { runStart } from "./run-start.ts";

export interface PageRun {
  readonly page: string;
  readonly blocks: number;
  /** Blocks whose output is on the page. */
  readonly outputs: number;
  readonly notRun: readonly Block[];
  readonly ok: boolean;
  /** Everything the commands wrote. */
  readonly output: string;
}

const DEFAULT_PORT = "18789";
/** Of pages that name none. A start of pi takes longer than the commands of most pages. */
const SETTINGS = '{ "agent": { "pool": { "min": 0 } } }';
const PAGE_MS = 600_000;
/** Between the outputs of blocks. */
const SEPARATOR = "\n--- ";
/** Commands that go on until Ctrl-C: they are given this long, and must still be there then. */
const FOLLOW_SECONDS = 2;
const FOLLOWS = /^(npx pi-gw logs -f)\b.*$/gm;
const VARIABLE = /\$\{([A-Z][A-Z0-9_]*)\}/g;

interface PageRunOptions {
  /** `npx pi-gw` becomes the command at once. npx itself takes half a second of a processor before each, which tests of the pages do not need. */
  readonly withoutNpx?: boolean;
}

export async function runPage(page: string, { withoutNpx = false }: PageRunOptions = {}): Promise<PageRun> {
  const blocks = blocksOf(page);
  const commands = blocks.filter(({ language }) => language === "sh");
  const run = commands.filter(({ notRun, isStart }) => notRun === null && !isStart);
  const starts = commands.filter(({ isStart }) => isStart);
  const outputs = outputsOf(blocks);
  const notRun = commands.filter((block) => block.notRun !== null);
  const about = { page, blocks: run.length + starts.length, outputs: outputs.size, notRun };
  for (const block of starts) {
    const { wrong, output } = await runStart(block);
    if (wrong !== null) return { ...about, ok: false, output: `${output}\n${wrong}\n` };
  }
  if (run.length === 0) return { ...about, ok: true, output: "" };
  await using folder = await tempHome();
  const home = join(folder.path, ".pi-gateway");
  await mkdir(home, { mode: 0o700 });
  const settings = blocks.find(({ isSettings }) => isSettings)?.text ?? SETTINGS;
  await writeFile(join(home, "pi-gateway.jsonc"), settings, { mode: 0o600 });
  const variables = variablesOf(settings);
  await using gateway = await startGatewayProcess({ home, env: { ...variables, HOME: folder.path } });
  const { ok, output } = await runCommands(run, { gateway, folder: folder.path, variables, withoutNpx });
  if (!ok) return { ...about, ok, output };
  const printed = printedBy(output);
  const wrong = [
    ...differences(printed, outputs),
    ...(MAIN_PAGES.includes(page) ? unshown(printed, run, outputs) : []),
  ];
  return { ...about, ok: wrong.length === 0, output: wrong.length === 0 ? output : `${output}\n${wrong.join("\n")}\n` };
}

/** By the line of the block that prints it. */
function outputsOf(blocks: readonly Block[]): ReadonlyMap<number, Block> {
  const pairs = blocks.flatMap((block, at) => {
    const before = blocks[at - 1];
    return block.isOutput && before?.language === "sh" && before.notRun === null && !before.isStart
      ? [[before.line, block] as const]
      : [];
  });
  return new Map(pairs);
}

/** By the line of the block. */
function printedBy(output: string): ReadonlyMap<number, string> {
  return new Map(
    output.split(SEPARATOR).map((part) => {
      const [head = "", ...lines] = part.split("\n");
      return [Number(head.slice(head.lastIndexOf(":") + 1)), lines.join("\n")] as const;
    }),
  );
}

/** Blocks that print something which the page does not show. */
function unshown(
  printed: ReadonlyMap<number, string>,
  run: readonly Block[],
  outputs: ReadonlyMap<number, Block>,
): readonly string[] {
  return run
    .filter(({ line }) => !outputs.has(line) && (printed.get(line) ?? "").trim() !== "")
    .map(({ page, line }) => `${page}:${line} prints something, and no block after it says what`);
}

function differences(printed: ReadonlyMap<number, string>, outputs: ReadonlyMap<number, Block>): readonly string[] {
  return [...outputs].flatMap(([line, block]) => {
    const missing = missingLine(block.text, printed.get(line) ?? "");
    return missing === null ? [] : [`${block.page}:${block.line} is not what was printed: ${missing}`];
  });
}

/** A value for each variable that the settings use: long enough for a token. */
function variablesOf(settings: string): Record<string, string> {
  const names = [...settings.matchAll(VARIABLE)].map(([, name = ""]) => name);
  return Object.fromEntries(names.map((name) => [name, `${name.toLowerCase()}-value-0123456789abcdef`]));
}

interface Place {
  readonly gateway: GatewayProcess;
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly withoutNpx: boolean;
}

/** In place of a program of the machine. */
async function writeProgram(folder: string, name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

async function runCommands(
  blocks: readonly Block[],
  { gateway, folder, variables, withoutNpx }: Place,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  const bin = join(folder, "bin");
  await mkdir(bin);
  const curl = Bun.which("curl") ?? "curl";
  await writeProgram(bin, "curl", `exec ${curl} --fail-with-body -S "$@"`);
  if (withoutNpx) await writeProgram(bin, "npx", `name=$1; shift; exec "${PROJECT}/bin/$name" "$@"`);
  const port = new URL(gateway.url).port;
  const script = blocks
    .map(({ page, line, text }) => `printf '\\n--- %s\\n' "${page}:${line}"\n${runnable(text, port)}\n`)
    .join("\n");
  // npm adds its own folders, in which a reader's shell would not look
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((part) => !part.includes("node_modules"));
  const child = Bun.spawn(["bash", "-euo", "pipefail", "-c", `exec 2>&1\n${script}`], {
    cwd: PROJECT,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: PAGE_MS,
    env: {
      ...variables,
      PATH: [bin, ...path].join(delimiter),
      HOME: folder,
      NO_COLOR: "1",
      npm_config_update_notifier: "false", // a word of npm's between the commands' own
    },
  });
  const [output, code] = await Promise.all([child.stdout.text(), child.exited]);
  return { ok: code === 0, output: code === 0 ? output : `${output}\nended with ${code}\n` };
}

function runnable(text: string, port: string): string {
  const follow = `timeout --signal=INT ${FOLLOW_SECONDS} $1 || [ $? -eq 124 ]`;
  return text.replaceAll(DEFAULT_PORT, port).replaceAll(FOLLOWS, follow);
}
