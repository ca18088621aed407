/** A real gateway in a process of its own, from the built bundle, with its own state directory: what a user runs, only on a free port. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { deferred } from "../../kit/deferred.ts";
import { fileWithStore, settingsWithStore } from "../postgres/home-database.ts";
import { SHORT_LIVED } from "../short-lived.ts";
import { type TempHome, tempHome } from "../temp-home.ts";
import { runnableHere } from "./without-wall.ts";

export interface GatewayProcess extends AsyncDisposable {
  readonly url: string;
  readonly signIn: string;
  readonly token: string;
  readonly home: string;
  readonly pid: number;
  /** Everything it wrote so far. */
  stdout(): string;
  stderr(): string;
  readonly exited: Promise<number>;
  /** kill -9, and resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and resolves with the exit code. */
  stop(): Promise<number>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  chat(text: string, body?: Record<string, unknown>): Promise<{ status: number; body: ChatBody }>;
}

export interface ChatBody {
  readonly content?: string;
  readonly turnId?: string;
  readonly tool_calls?: readonly { readonly tool: string; readonly status: string }[];
  readonly error?: { readonly code: string; readonly message: string };
}

export interface GatewayProcessOptions {
  /** Reuse a state directory, after a kill for example; it is then not deleted. */
  readonly home?: string;
  /** Written to the state directory as pi-gateway.jsonc before the start. */
  readonly config?: unknown;
  readonly env?: Readonly<Record<string, string>>;
  /** The port of a gateway that was killed, so that its page finds the next one. Default: any free one. */
  readonly port?: number;
  readonly args?: readonly string[];
  /** The port is the configuration's affair; without this, a flag asks for a free one and wins over the file. */
  readonly portFromConfig?: boolean;
  /** When it is not ready by then, it is killed, and counts as one that did not start. Default: no limit. */
  readonly readyWithinMs?: number;
  /** A command that becomes the one behind it, such as one that enters a network. */
  readonly within?: readonly string[];
  /** A file that runs before the gateway. */
  readonly preload?: string;
  /** Told when the process is there, long before it is ready. */
  readonly spawned?: (pid: number) => void;
  /** The folder of a build that is to run as it is. Default: what was compiled of dist/, or dist/. */
  readonly build?: string;
  /** An executable that is the gateway, with Bun inside, instead of a build that Bun runs. */
  readonly executable?: string;
}

const PROJECT = resolve(import.meta.dir, "../../..");
/** The folder of what users run. */
export const BUILD = join(PROJECT, "dist");
/** The name of the variable that names a compiled gateway: `scripts/test.ts` sets it. */
export const GATEWAY_VARIABLE = "PI_TEST_GATEWAY";
/** Shorter than the limit of a test, so that a test says what it waited for. */
const ANSWER_MS = 90_000;

/** Rejects with everything the process said when it does not get ready. */
export async function startGatewayProcess(options: GatewayProcessOptions = {}): Promise<GatewayProcess> {
  const owned: TempHome | null = options.home === undefined ? await tempHome() : null;
  const home = options.home ?? owned?.path ?? "";
  if (options.config !== undefined) {
    const config = await settingsWithStore(home, await runnableHere(home, options.config));
    await writeFile(join(home, "pi-gateway.jsonc"), JSON.stringify(config), { mode: 0o600 });
  } else await fileWithStore(home);
  const child = spawnGateway(home, options);
  options.spawned?.(child.pid);
  let errors = "";
  const reading = (async () => {
    for await (const chunk of child.stderr) errors += new TextDecoder().decode(chunk);
  })();
  const output = readOutput(child.stdout);
  const { readyWithinMs } = options;
  const limit = readyWithinMs === undefined ? null : setTimeout(() => child.kill("SIGKILL"), readyWithinMs);
  const ready = await output.ready;
  if (limit !== null) clearTimeout(limit);
  if (!ready) {
    const code = await child.exited;
    await reading;
    await owned?.[Symbol.asyncDispose]();
    throw new GatewayDidNotStart(code, errors);
  }
  const token = (await readFile(join(home, "token"), "utf8")).trim();
  const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<number> => {
    child.kill(signal);
    return child.exited;
  };
  const authorized = (path: string, init: RequestInit = {}) =>
    fetch(`${ready.url}${path}`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      ...init,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
    });
  return {
    ...ready,
    token,
    home,
    pid: child.pid,
    exited: child.exited,
    stdout: output.text,
    stderr: () => errors,
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
    fetch: authorized,
    async chat(text, body = {}) {
      const response = await authorized("/api/chat", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text, ...body }),
      });
      return { status: response.status, body: (await response.json()) as ChatBody };
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) await end("SIGTERM");
      await owned?.[Symbol.asyncDispose]();
    },
  };
}

export class GatewayDidNotStart extends Error {
  override readonly name = "GatewayDidNotStart";
  readonly exitCode: number;
  readonly said: string;
  constructor(exitCode: number, said: string) {
    super(`the gateway ended with ${exitCode}: ${said}`);
    this.exitCode = exitCode;
    this.said = said;
  }
}

function spawnGateway(home: string, options: GatewayProcessOptions) {
  const compiled = options.build === undefined ? process.env[GATEWAY_VARIABLE] : undefined;
  const main = compiled ?? join(options.build ?? BUILD, "main.js");
  if (!existsSync(main)) throw new Error("dist/ is missing: run the tests with npm test, which builds it");
  const { PATH, HOME, BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache, PI_GATEWAY_PI: pi } = process.env;
  const port = options.portFromConfig ? [] : ["--port", String(options.port ?? 0)];
  const command = ["start", "--home", home, ...port, "--json", ...(options.args ?? [])];
  const before = options.preload === undefined ? [] : ["--preload", options.preload];
  const { executable } = options;
  const program = executable === undefined ? [process.execPath, "--no-env-file", ...before, main] : [executable];
  return Bun.spawn([...(options.within ?? []), ...program, ...command], {
    cwd: existsSync(home) ? home : tmpdir(), // the gateway makes its folder itself
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: {
      PATH: PATH ?? "",
      HOME: HOME ?? "",
      ...(cache ? { BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache } : {}),
      ...(pi ? { PI_GATEWAY_PI: pi } : {}),
      ...(compiled === undefined ? {} : SHORT_LIVED),
      ...options.env,
    },
  });
}

interface Ready {
  readonly url: string;
  readonly signIn: string;
}

/** `ready` is the first line, or null when the process ends without one. */
function readOutput(stdout: ReadableStream<Uint8Array>): { readonly ready: Promise<Ready | null>; text(): string } {
  const ready = deferred<Ready | null>();
  let text = "";
  void (async () => {
    for await (const chunk of stdout) {
      text += new TextDecoder().decode(chunk);
      const [first, ...rest] = text.split("\n");
      if (rest.length > 0) ready.resolve(JSON.parse(first ?? ""));
    }
    ready.resolve(null);
  })().catch(ready.reject);
  return { ready: ready.promise, text: () => text };
}
