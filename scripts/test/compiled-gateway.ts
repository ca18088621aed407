/** The gateway of dist/ as one file with bytecode: what a start and a first message take of a processor is a third less. Made anew for every build. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stampFile } from "../stamp.mjs";
import { SHORT_LIVED } from "../../src/testing/short-lived.ts";
import { compileScript, placeMark } from "./compile-script.ts";

const ENTRY = "main.js";
const NAME = "gateway-";
/** Scripts cannot wait at their end. */
const WAITS = /if\(import\.meta\.main\)process\.exitCode=await (main\([^;]*\));/;
/** Where the environment of an agent begins. */
const AGENT_ENVIRONMENT = /\{(?=\.\.\.\w+\.bunEnv,\.\.\.\w+\.locale,)/;
const AGENTS_BUN = `{...${JSON.stringify(SHORT_LIVED)},`;

/** Returns its entry. Everything beside it, such as the web console, is that of dist/. */
export async function ensureCompiledGateway(root: string): Promise<string> {
  const cache = join(root, "node_modules/.cache/pi-gateway");
  const made = `${readFileSync(stampFile(root), "utf8")}-bun-${Bun.version}-${placeMark(root)}`;
  const folder = join(cache, `${NAME}${made}`);
  if (existsSync(join(folder, ENTRY))) return join(folder, ENTRY);
  const aside = join(cache, `aside-${process.pid}`);
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true });
  const main = join(root, "dist", ENTRY);
  let changed = false;
  await compileScript({
    entry: main,
    outdir: aside,
    external: ["@earendil-works/*"],
    edit(path, text) {
      changed ||= AGENT_ENVIRONMENT.test(text);
      return (path === main ? withoutWaiting(text) : text).replace(AGENT_ENVIRONMENT, AGENTS_BUN);
    },
  });
  if (!changed) throw new Error("the environment of agents has changed: look again at where it begins");
  for (const older of readdirSync(cache))
    if (older.startsWith(NAME)) rmSync(join(cache, older), { recursive: true, force: true });
  renameSync(aside, folder); // whole or not at all, also when two runs make it at once
  return join(folder, ENTRY);
}

function withoutWaiting(text: string): string {
  if (!WAITS.test(text)) throw new Error("the end of dist/main.js has changed: look again at how it begins its work");
  return text.replace(WAITS, "void $1.then((code)=>{process.exitCode=code});");
}
