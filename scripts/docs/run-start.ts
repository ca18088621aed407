/**
 * Runs a block that starts the gateway, as it is written, in a home folder of its own: waits for the line that the README promises, takes the sign-in
 * link of that line, and ends it with Ctrl-C. The port is a free one, which the settings in that folder say.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type Block, PROJECT } from "./blocks.ts";

export interface StartRun {
  /** Null: as the page says. */
  readonly wrong: string | null;
  /** Everything the commands wrote. */
  readonly output: string;
}

const SETTINGS = '{ "gateway": { "port": 0 }, "agent": { "pool": { "min": 0 } } }';
/** The line is documented, word by word. */
const READY = /^pi-gateway ready (http:\/\/127\.0\.0\.1:\d+) sign-in (\S+)\/#code=(\S+)$/m;
/** An install may be part of it. */
const START_MS = 240_000;
const END_MS = 15_000;

export async function runStart({ page, line, text }: Block): Promise<StartRun> {
  await using folder = await tempHome();
  const home = join(folder.path, ".pi-gateway");
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "pi-gateway.jsonc"), SETTINGS, { mode: 0o600 });
  // npm adds its own folders, in which a reader's shell would not look
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((part) => !part.includes("node_modules"));
  const child = Bun.spawn(["setsid", "bash", "-euo", "pipefail", "-c", `exec 2>&1\n${text}`], {
    cwd: PROJECT,
    stdin: "ignore",
    stdout: "pipe",
    env: { PATH: path.join(delimiter), HOME: folder.path, NO_COLOR: "1", npm_config_update_notifier: "false" },
  });
  const stopHard = setTimeout(() => signalAll(child.pid, "SIGKILL"), START_MS);
  let output = `\n--- ${page}:${line}\n`;
  let wrong: string | null = "it did not say that it is ready";
  for await (const chunk of child.stdout) {
    output += new TextDecoder().decode(chunk);
    const [, url, linked, code] = READY.exec(output) ?? [];
    if (wrong === null || url === undefined || code === undefined) continue;
    wrong = linked === url ? await signInProblem(url, code) : `the sign-in link leads to ${linked}`;
    clearTimeout(stopHard);
    setTimeout(() => signalAll(child.pid, "SIGKILL"), END_MS).unref();
    signalAll(child.pid, "SIGINT");
    if (wrong !== null) break;
  }
  clearTimeout(stopHard);
  const code = await child.exited;
  if (wrong === null && code !== 0 && code !== 130) wrong = `Ctrl-C ended it with ${code}`;
  return { wrong: wrong === null ? null : `${page}:${line}: ${wrong}`, output };
}

/** As the web console takes the code of the link. */
async function signInProblem(url: string, code: string): Promise<string | null> {
  const response = await fetch(`${url}/api/sign-in`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-pi-gateway": "1", origin: url },
    body: JSON.stringify({ code }),
  });
  return response.ok ? null : `the sign-in link was answered with ${response.status}`;
}

/** Ctrl-C reaches everything that the terminal runs. */
function signalAll(pid: number, signal: "SIGINT" | "SIGKILL"): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // it has ended already
  }
}
