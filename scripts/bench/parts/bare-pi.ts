/** One pi process driven directly over its pipe, with the flags, instructions and tools the gateway gives it: a turn without a gateway. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { headerLine } from "../../../src/agents/talk/session-file.ts";
import { offerChange } from "../../../src/agents/tools/offer.ts";
import type { ToolSpec } from "../../../src/contracts/tools/tool.ts";
import type { ProcessDoor } from "../../../src/contracts/model-door.ts";
import { type Connection, connectDescriptor } from "../../../src/kit/mux/descriptor.ts";
import type { GatewayProcess } from "../../../src/testing/whole/gateway-process.ts";
import type { ProviderProcess, ShownToModel } from "./provider-process.ts";

const SUFFIX = "benchbenchbenchbench";
export const SHORT_INSTRUCTIONS = "You are a helpful assistant.\n";

export interface BarePi extends AsyncDisposable {
  /** Resolves when pi has settled. `see` gets every line pi writes meanwhile. */
  turn(text: string, see?: (line: string) => void): Promise<void>;
  /** Begins another conversation in the same process. */
  anew(): Promise<void>;
  /** Goes on in the conversation with this name, which begins with the first time. */
  open(conversation: string): Promise<void>;
}

const LEAN = [
  "--offline",
  "--no-extensions",
  "--no-skills",
  "--no-prompt-templates",
  "--no-themes",
  "--no-context-files",
  "--no-builtin-tools",
];

/** What an agent gets from the gateway besides its messages. */
export interface GivenToPi {
  /** The path of the bridge. */
  readonly bridge: string;
  readonly instructions: string;
  /** Tools of the gateway. */
  readonly specs: readonly ToolSpec[];
  /** pi tools, by name. */
  readonly piTools: readonly string[];
}

/** pi adds its working folder to the instructions, and each process has its own. */
const WORKING_FOLDER = /\n\n<cwd>\n[^]*$/;

/** What this gateway gives to an agent, as the model is shown it in a first turn: for a bare pi to have the same. */
export async function givenBy(gateway: GatewayProcess, provider: ProviderProcess): Promise<GivenToPi> {
  const { status } = await gateway.chat("hello", { session: "given" });
  if (status !== 200) throw new Error(`the gateway answered its first message with ${status}`);
  const shown = await provider.lastShown();
  const { tools } = (await (await gateway.fetch("/api/tools")).json()) as { tools: readonly ToolSpec[] };
  const specs = tools
    .filter(({ name }) => shown.tools.includes(name))
    .map(({ name, label, description, parameters }) => ({ name, label, description, parameters }));
  return {
    bridge: join(import.meta.dir, "../../../dist/bridge.js"),
    instructions: shown.instructions.replace(WORKING_FOLDER, ""),
    specs,
    piTools: shown.tools.filter((name) => !specs.some((spec) => spec.name === name)),
  };
}

/** A bare pi whose model is shown the same instructions and tools as that of the gateway's agents. Throws when it is not. */
export async function startSamePi(folder: string, provider: ProviderProcess, given: GivenToPi): Promise<BarePi> {
  const pi = await startBarePi(folder, provider.baseUrl, given);
  await pi.turn("hello");
  const { tools, instructions } = await provider.lastShown();
  const wanted: ShownToModel = {
    tools: [...given.piTools, ...given.specs.map(({ name }) => name)],
    instructions: given.instructions,
  };
  const shown: ShownToModel = { tools, instructions: instructions.replace(WORKING_FOLDER, "") };
  if (Bun.deepEquals(wanted, shown)) return pi;
  await pi[Symbol.asyncDispose]();
  throw new Error(
    `bare pi shows its model ${JSON.stringify(shown)}, and the gateway's agent ${JSON.stringify(wanted)}`,
  );
}

interface BarePiOptions {
  readonly extensions?: readonly string[];
  /** Its model calls go through this; left out, straight to the provider. */
  readonly door?: ProcessDoor;
}

/**
 * `extensions` besides the bridge, by path. Without a bridge (`given` null) there are no tools but theirs: the bridge would ask a gateway before each
 * call of one that is not the gateway's, and here is none.
 */
export async function startBarePi(
  folder: string,
  baseUrl: string,
  given: GivenToPi | null,
  { extensions = [], door }: BarePiOptions = {},
): Promise<BarePi> {
  const loaded = [...(given ? [given.bridge] : []), ...extensions];
  const child = spawnPi(folder, {
    agent: writeModels(folder, baseUrl),
    instructions: given?.instructions ?? SHORT_INSTRUCTIONS,
    extensions: loaded,
    env: door ? { PI_GATEWAY_MODEL_DOOR: JSON.stringify([baseUrl]) } : {},
  });
  const connection = door ? connectTo(child, door) : null;
  let watch: (line: string) => void = () => undefined;
  let settled: () => void = () => undefined;
  let answer: { resolve(): void; reject(why: Error): void } | null = null;
  void readLines(child.stdout, (line) => {
    watch(line);
    if (line.startsWith('{"type":"agent_settled"')) settled();
    else if (line.includes('"type":"response"')) answer?.resolve();
    else if (line.startsWith('{"type":"extension_error"')) answer?.reject(new Error(`pi did not take it: ${line}`));
  });
  const send = (command: object): void => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    void child.stdin.flush();
  };
  const early = child.exited.then((code) => Promise.reject(new Error(`bare pi ended with ${code}`)));
  early.catch(() => undefined); // whoever waits for an answer hears of it
  const ask = async (command: object): Promise<void> => {
    const answered = new Promise<void>((resolve, reject) => {
      answer = { resolve, reject };
    });
    send({ id: "0", ...command });
    await Promise.race([answered, early]);
  };
  const order = given && offerChange(null, given.specs, given.piTools)?.order;
  const offer = (): Promise<void> =>
    ask(order ? { type: "prompt", message: `/gw-${SUFFIX} ${JSON.stringify(order)}` } : { type: "get_state" });
  await offer();
  return {
    turn(text, see = () => undefined) {
      watch = see;
      const end = new Promise<void>((resolve) => {
        settled = resolve;
      });
      send({ id: "1", type: "prompt", message: text });
      return end;
    },
    async anew() {
      await ask({ type: "new_session" });
      await offer(); // extensions begin anew as well
    },
    async open(conversation) {
      const path = join(folder, `${conversation}.jsonl`);
      if (!existsSync(path)) writeFileSync(path, headerLine({ id: conversation, at: Date.now(), cwd: folder }));
      await ask({ type: "switch_session", sessionPath: path });
    },
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
      connection?.close("the process has ended");
    },
  };
}

function connectTo({ stdio }: Pick<ReturnType<typeof spawnPi>, "stdio">, door: ProcessDoor): Connection {
  const fd = stdio[3];
  if (typeof fd !== "number") throw new Error("the process has no connection");
  return connectDescriptor(fd, { side: "even", opened: door.serve, closed: () => undefined });
}

function writeModels(folder: string, baseUrl: string): string {
  const agent = join(folder, "agent");
  mkdirSync(agent, { recursive: true });
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = {
    id: "bench",
    name: "Bench",
    reasoning: false,
    input: ["text"],
    contextWindow: 1_000_000,
    maxTokens: 4_096,
    cost,
  };
  const providers = { local: { baseUrl, api: "openai-completions", apiKey: "none", models: [model] } };
  writeFileSync(join(agent, "models.json"), JSON.stringify({ providers }));
  writeFileSync(join(agent, "settings.json"), JSON.stringify({ defaultProvider: "local", defaultModel: "bench" }));
  writeFileSync(join(folder, "bare.jsonl"), "");
  return agent;
}

interface PiStart {
  /** The folder of pi's own settings. */
  readonly agent: string;
  readonly instructions: string;
  readonly extensions: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function spawnPi(folder: string, { agent, instructions, extensions, env }: PiStart) {
  const entry = Bun.fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent/rpc-entry"));
  const session = ["--session", join(folder, "bare.jsonl"), "--system-prompt", instructions];
  const loaded = extensions.flatMap((path) => ["-e", path]);
  return Bun.spawn([process.execPath, "--no-env-file", entry, ...LEAN, ...session, ...loaded], {
    cwd: folder,
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      PI_OFFLINE: "1",
      PI_CODING_AGENT_DIR: agent,
      PI_GATEWAY_BRIDGE: SUFFIX,
      ...env,
    },
  });
}

async function readLines(stdout: ReadableStream<Uint8Array>, see: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of stdout) {
    held += decoder.decode(chunk, { stream: true });
    const lines = held.split("\n");
    held = lines.pop() ?? "";
    for (const line of lines) see(line);
  }
}
