/** Starts one agent process up to the point where it can serve: found, spawned, shaken hands with, its model checked, its tools given. */
import { existsSync } from "node:fs";
import type { Config, Environment } from "../../config/index.ts";
import { GatewayError, isGatewayError } from "../../contracts/errors.ts";
import type { Events } from "../../contracts/events.ts";
import type { DoorAccess, ModelDoor, ProcessDoor } from "../../contracts/model-door.ts";
import type { Questions } from "../../contracts/channels/question.ts";
import type { Egress } from "../../contracts/egress.ts";
import type { Launch, Sandbox, Wall } from "../../contracts/sandbox.ts";
import type { ToolGate } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { AgentFolders, PreparedFolders } from "./agent-folder.ts";
import { agentEnvironment, type Reach, secretValues } from "./environment.ts";
import { confinedPlaces } from "./confined-places.ts";
import { findPi } from "./find-pi.ts";
import { checkResources, resourceFlags, type Resources, skillFolders } from "./resources.ts";
import { callsItself, type OpenNetwork, openNetwork } from "./network.ts";
import { expectedModel, type ModelChoice } from "./model-choice.ts";
import { createDiskMeter, type DiskMeter } from "../process/disk-meter.ts";
import { openProcessorShare, type ProcessorShare } from "../process/processor-share.ts";
import { watchLocks } from "../process/dead-locks.ts";
import { limitMark } from "../process/limit-mark.ts";
import { PROCESS_VARIABLE } from "../process/marks.ts";
import type { ChildNotes } from "../process/orphans.ts";
import type { PlayedAgents } from "../process/played.ts";
import { type AgentProcess, CONNECTION, startProcess } from "../process/process.ts";
import { createStreams, type ProcessStreams } from "../process/streams.ts";
import { type Fields, modelName, text } from "../talk/protocol.ts";
import { redact } from "../process/redact.ts";
import type { AgentTokenMint } from "../tools/agent-tokens.ts";
import type { Room } from "../tools/confine.ts";
import { piToolFlags } from "../tools/pi-tools.ts";
import { createRunningCommands } from "../tools/running-commands.ts";
import type { StoredSessions } from "../talk/stored-session.ts";
import { type ToolPipe, createToolPipe } from "../talk/tool-pipe.ts";

const SUFFIX_BYTES = 16;
const TEMP_NAME_CHARS = 8;

export interface StartDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  readonly tools: ToolGate;
  /** Without it extensions can ask nobody. */
  readonly questions?: Pick<Questions, "ask" | "tell">;
  /** How scripts inside an agent call the gateway; absent: they cannot. */
  readonly reach?: AgentReach;
  /** Without it no model is called, but for the demo model and those that a process has the login of. */
  readonly modelDoor?: ModelDoor;
  /** Without it processes are not confined. */
  readonly sandbox?: Sandbox;
  /** Without it programs of a process reach no host. */
  readonly egress?: Egress;
  /** Without it session files are on this machine alone. */
  readonly storedSessions?: StoredSessions | undefined;
  /** Instead of processes of pi. */
  readonly played?: PlayedAgents;
}

interface AgentReach {
  /** Known once the port is open; the first processes wait for it. */
  readonly url: Promise<string>;
  readonly tokens: AgentTokenMint;
}

export interface StartSettings {
  readonly config: Config["agent"];
  readonly environment: Environment;
  readonly folders: AgentFolders;
  /** Writes pi's settings again, unless they are as they should be. */
  readonly restore: PreparedFolders["restore"];
  readonly resources: Resources;
  readonly choice: ModelChoice;
  readonly notes: ChildNotes;
  readonly bridgePath: string;
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
  readonly handshakeMs: number;
  /** How long a lock that pi waits for is watched before it counts as a dead one's. */
  readonly lockHeldMs: number;
}

/** A process that is ready to serve. */
export interface ReadyAgent {
  readonly process: AgentProcess;
  readonly pipe: ToolPipe;
  /** Its calls of models. */
  readonly door: Pick<ProcessDoor, "lease" | "refusal" | "failed" | "told">;
  /** `provider/model`, as pi named it at its start. */
  readonly model: string;
  readonly thinking: string;
  /** Takes this process's keys out of a text: providers repeat them in their errors. */
  readonly redact: (text: string) => string;
  /** The prompt templates it knows: a message that begins with a slash and such a name is for pi to fill in. */
  readonly templates: ReadonlySet<string>;
  /** The folder in which it finds the session it works on. */
  readonly visits: string;
  /** What its files take up. */
  readonly disk: DiskMeter;
  /** What its programs leave of the processors; null: there is nothing to see to. */
  readonly processors: ProcessorShare | null;
}

export async function startAgent(deps: StartDeps, settings: StartSettings, signal: AbortSignal): Promise<ReadyAgent> {
  if (deps.played) return deps.played.start(settings, signal);
  const suffix = Buffer.from(deps.ids.secret(SUFFIX_BYTES), "base64url").toString("hex");
  const url = deps.reach ? await orAborted(deps.reach.url, signal) : null;
  const token = deps.reach?.tokens.issue();
  const secrets = [...secretValues(settings.choice), ...(token ? [token.secret.reveal()] : [])];
  const locks = settings.notes.freeLocks();
  if (locks > 0) deps.log.warn("locks of killed agents dropped", { locks });
  const { folders, lockHeldMs } = settings;
  using _locks = folders.ownAgentDir ? watchLocks(deps, { folder: folders.agentDir, heldMs: lockHeldMs }) : null;
  const id = deps.ids.next("process");
  const door = deps.modelDoor?.connect(accessOf(settings)) ?? NO_DOOR;
  const commands = createRunningCommands();
  const streams = createStreams({ door, egress: deps.egress, commands: commands.list }, settings.config.network);
  const wall = await wallFor(deps, settings);
  await settings.restore();
  const tier = wall?.report.tier ?? "none";
  const network = openNetwork(deps.egress, {
    config: settings.config,
    choice: settings.choice,
    tier,
    url,
    caller: streams.caller,
  });
  const reach = url !== null && token && network.by !== "nothing" ? { url, token: token.secret } : null;
  const own = { id, suffix, reach, secrets, streams, wall, network };
  const { process, temp, visits, disk } = spawned(deps, settings, own);
  process.onEvent(commands.take);
  if (process.identity) settings.notes.write(process.identity, id);
  deps.events.emit("agent.spawned", { pid: process.pid });
  void process.ended.then(({ because, code }) => {
    settings.notes.remove(process.pid);
    temp.remove(deps.log);
    visits.remove(deps.log);
    token?.[Symbol.dispose]();
    network[Symbol.dispose]();
    deps.events.emit("agent.exited", { pid: process.pid, code, expected: because === "stopped" });
  });
  try {
    const state = await shakeHands(deps.clock, process, settings.handshakeMs, signal);
    const model = modelName(state.model);
    checkModel(settings.choice, model);
    const pipe = createToolPipe(deps, process, {
      suffix,
      bridge: settings.config.bridge,
      profile: settings.config.tools ?? "chat",
      room: roomOf(settings),
      token: token ?? null,
    });
    await pipe.push(null, signal).taken;
    return {
      process,
      pipe,
      door: streams,
      model: model ?? "",
      thinking: text(state.thinkingLevel),
      redact: (said) => redact(said, secrets),
      templates: settings.resources.templateNames,
      visits: visits.path,
      disk,
      processors: openProcessorShare(
        { clock: deps.clock, program: process.program, family: process.family },
        settings.config.limits.cpus,
      ),
    };
  } catch (error) {
    await process.stop(true);
    throw asStartFailure(error, process);
  }
}

/** Where its file tools may look and change something. */
function roomOf({ folders, resources }: StartSettings): Room {
  const { read, write, asks } = folders.granted;
  return {
    workspace: folders.workspace,
    readable: [...skillFolders(resources), ...read, ...write],
    writable: write,
    asks,
  };
}

/** A folder of the user's own (agent.agentDir) is not the agent's to be counted. */
function ownFolders({ workspace, home, agentDir, ownAgentDir }: AgentFolders, temp: string): readonly string[] {
  return [workspace, ownAgentDir ? agentDir : home, temp];
}

/** Null: this process is not confined, because the owner wants it so, or because nothing else is possible and nothing else was required. */
async function wallFor({ sandbox }: StartDeps, { config }: StartSettings): Promise<Wall | null> {
  if (config.sandbox === "off" || sandbox === undefined) return null;
  const wall = await sandbox.wall();
  if (wall.report.tier !== "none") return wall;
  if (config.sandbox !== "required") return null;
  const { because, advice } = wall.report;
  const say = `agent.sandbox is "required", so agents do not start. ${because}${advice === null ? "" : ` ${advice}`}`;
  throw new GatewayError("sandbox_unusable", say, { say });
}

interface OwnParts {
  readonly id: string;
  readonly suffix: string;
  readonly reach: Reach | null;
  readonly secrets: readonly string[];
  readonly streams: ProcessStreams;
  readonly wall: Wall | null;
  readonly network: OpenNetwork;
}

const NO_DOOR: ProcessDoor = {
  serve: (call) => call.abort("models are not called here"),
  lease: () => undefined,
  refusal: () => null,
  failed: () => null,
  told: () => null,
};

function accessOf({ choice, config }: StartSettings): DoorAccess {
  const providers = choice.kind === "demo" || choice.kind === "login" ? [] : choice.access.providers;
  return { providers, fallbackAfterMs: config.fallbackAfterMs, callsItself: callsItself(choice) };
}

function spawned(deps: StartDeps, settings: StartSettings, own: OwnParts) {
  const id = own.suffix.slice(0, TEMP_NAME_CHARS);
  const cache = settings.config.extensions.length > 0 ? settings.folders.compiled : null;
  const temp = settings.notes.tempFolder({ id, cache });
  const visits = settings.notes.visitFolder(id);
  try {
    const process = startProcess(deps, {
      id: own.id,
      launch: launchOf(settings, own, { temp: temp.path, visits: visits.path }),
      secrets: own.secrets,
      opened: own.streams.serve,
    });
    const counted = ownFolders(settings.folders, temp.path);
    const disk = createDiskMeter(deps, { state: settings.folders.sessions, own: counted }, settings.config.limits);
    return { process, temp, visits, disk };
  } catch (error) {
    temp.remove(deps.log);
    visits.remove(deps.log);
    throw error;
  }
}

interface OwnFolders {
  readonly temp: string;
  readonly visits: string;
}

function launchOf(settings: StartSettings, own: OwnParts, { temp, visits }: OwnFolders): Launch {
  const { id, suffix, reach, wall, network } = own;
  const { config, environment, folders } = settings;
  if (config.bridge === "off" && settings.choice.kind === "demo") {
    const say =
      "The demo model lives in the bridge, and agent.bridge is off. Set agent.bridge to live, or set agent.model.";
    throw new GatewayError("model_missing", say, { say });
  }
  if (!existsSync(folders.agentDir)) {
    const say = `The folder of agent.agentDir (${folders.agentDir}) does not exist.`;
    throw new GatewayError("agent_unavailable", say, { say });
  }
  checkGranted(folders.granted.write);
  checkResources(settings.resources);
  const found = findPi({
    piPath: config.piPath,
    execPath: process.execPath,
    environment,
    bun: settings.bun,
  });
  if (found.kind === "missing") {
    const looked = found.looked.map(({ where, result }) => `${where}: ${result}`).join("; ");
    throw new GatewayError("agent_missing", `${found.say} Looked at ${looked}`, { say: found.say });
  }
  const program = {
    argv: [...found.argv, ...flags(settings, visits)],
    cwd: folders.workspace,
    env: agentEnvironment({
      ...settings,
      reach,
      temp,
      bridgeSuffix: suffix,
      mark: marksOf(settings, id),
      network: network.variables,
    }),
    mark: limitMark(id),
    descriptors: [CONNECTION],
  };
  if (wall === null) return { ...program, wrappers: 0 };
  const { resources, bridgePath } = settings;
  const bun = program.argv[0] ?? process.execPath;
  const places = confinedPlaces({
    folders,
    resources,
    temp,
    visits,
    bun,
    pi: found.file,
    bridge: bridgePath,
    userHome: environment.userHome,
    network: network.confined,
    limits: config.limits,
  });
  return wall.confine(places, program);
}

function checkGranted(paths: readonly string[]): void {
  const missing = paths.find((path) => !existsSync(path));
  if (missing === undefined) return;
  const say = `${missing}, which is listed in agent.folders, does not exist.`;
  throw new GatewayError("agent_unavailable", say, { say });
}

/** By which this process, and everything that it starts, is found. */
function marksOf({ notes }: StartSettings, id: string): Readonly<Record<string, string>> {
  return { [PROCESS_VARIABLE]: id, ...notes.mark };
}

function flags(settings: StartSettings, visits: string): readonly string[] {
  const { config, folders, resources, choice, bridgePath } = settings;
  const lean = ["--offline", "--no-extensions", "--no-skills", "--no-prompt-templates", "--no-themes"];
  return [
    ...lean,
    "--no-context-files",
    // Without the bridge nobody would judge calls of pi tools, nor of those that extensions bring, so there are none.
    ...(config.bridge === "off" ? ["--no-tools", ...piToolFlags("chat")] : piToolFlags(config.tools ?? "chat")),
    ...["--session-dir", visits],
    ...["-e", bridgePath], // also where the bridge is off: models are called through it
    ...resourceFlags(resources),
    ...["--system-prompt", folders.promptFile],
    ...(folders.ownAgentDir ? [] : foreignFolderFlags(config, choice)),
  ];
}

/** Somebody else's pi folder is not written to, so the choice has to be said on the command line. */
function foreignFolderFlags(config: Config["agent"], choice: ModelChoice): readonly string[] {
  const thinking = config.thinking === undefined ? [] : ["--thinking", config.thinking];
  if (choice.kind === "configured") return ["--provider", choice.provider, "--model", choice.model, ...thinking];
  if (choice.kind === "demo") return ["--provider", "gwdemo", "--model", "demo", ...thinking];
  return thinking;
}

/** What is written before pi is ready waits in the pipe, so the first answer is the sign that it is. */
async function shakeHands(
  clock: Clock,
  process: AgentProcess,
  handshakeMs: number,
  signal: AbortSignal,
): Promise<Fields> {
  const tooLate = () =>
    new GatewayError("agent_unavailable", `pi did not answer within ${handshakeMs} ms of its start`);
  using limit = clock.deadline(handshakeMs, tooLate);
  const state = await process.request({ type: "get_state" }, AbortSignal.any([signal, limit.signal]));
  if (!state.ok) throw new GatewayError("agent_unavailable", `pi refused the first question: ${state.error}`);
  return state.data;
}

/** pi falls back to another model without a word. Answering with a model nobody asked for could cost, so that is refused. */
function checkModel(choice: ModelChoice, actual: string | null): void {
  const wanted = choice.kind === "provider-default" ? `${choice.provider}/` : (expectedModel(choice) ?? "");
  const fits = wanted.endsWith("/") ? actual?.startsWith(wanted) : wanted === "" ? actual !== null : actual === wanted;
  if (fits) return;
  const name = wanted === "" ? "a model" : `the model ${wanted.endsWith("/") ? `of ${wanted.slice(0, -1)}` : wanted}`;
  throw new GatewayError("model_missing", `pi does not offer ${name} (it has ${actual ?? "none"})`, {
    say: `pi does not offer ${name}. Check agent.model, and that its provider's key or login is there.`,
  });
}

function asStartFailure(error: unknown, process: AgentProcess): unknown {
  if (!isGatewayError(error)) return error;
  if (error.code !== "agent_exited") return error;
  return new GatewayError("agent_unavailable", error.message.replace(/^agent_exited: /, ""), {
    cause: error,
    fields: { pid: process.pid },
  });
}
