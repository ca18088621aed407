/** Starts programs that serve the gateway, each behind a wall of its own, with a folder of its own, and with nothing of the gateway's environment. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Config, Environment } from "../../config/index.ts";
import type { Egress, EgressCaller, NetworkSetting } from "../../contracts/egress.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { AgentId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { ProgramOrder, Programs } from "../../contracts/programs.ts";
import type { ConfinedProgram, Launch, Sandbox, SandboxNetwork, Wall } from "../../contracts/sandbox.ts";
import { NO_TURN } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { proxyVariables } from "../../kit/proxy-variables.ts";
import { limitMark } from "../process/limit-mark.ts";
import { PROCESS_VARIABLE } from "../process/marks.ts";
import { childNotes } from "../process/orphans.ts";
import { expandPath } from "../setup/paths.ts";
import { findCommand } from "./find-command.ts";
import { CONNECTION, spawnProgram } from "./program-process.ts";

interface ProgramsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly sandbox: Sandbox;
  readonly egress: Egress;
}

interface ProgramsOptions {
  readonly home: string;
  readonly environment: Environment;
  /** With which Bun is run, for what stands before a program. */
  readonly bunEnv: Readonly<Record<string, string>>;
  /** As the settings are now. */
  settings(): Pick<Config["agent"], "sandbox" | "limits">;
}

const PRIVATE_FOLDER = 0o700;
const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";
const TEMP_ID_BYTES = 6;
const NEVER = new AbortController().signal;

export function createPrograms(deps: ProgramsDeps, options: ProgramsOptions): Programs {
  const notes = childNotes(options.home, "programs");
  return {
    async start(order) {
      const wall = await wallFor(deps.sandbox, options.settings().sandbox, order);
      const folder = join(options.home, "programs", order.name);
      mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
      const id = deps.ids.next("program");
      const temp = notes.tempFolder({ id: tempName(deps.ids), cache: null });
      const network = openNetwork(deps.egress, order, wall);
      const tidy = (): void => {
        network.close();
        temp.remove(deps.log);
      };
      try {
        const env = Object.fromEntries([
          ...(wall === null ? [] : Object.entries(options.bunEnv)), // without a wall nothing stands before it
          ...variables(options.environment, order),
          ["HOME", folder],
          ["TMPDIR", temp.path],
          ...Object.entries(network.variables),
          [PROCESS_VARIABLE, id],
          ...Object.entries(notes.mark),
        ]);
        const process = spawnProgram(deps, {
          id,
          launch: launchOf(options, order, { wall, network, id, env, write: [folder, temp.path], cwd: folder }),
          secrets: Object.values(order.env).map((value) => value.reveal()),
          output: order.output,
          opened: network.opened,
        });
        if (process.identity) notes.write(process.identity, id);
        void process.ended.then(() => {
          notes.remove(process.pid);
          tidy();
        });
        return process;
      } catch (error) {
        tidy();
        throw error;
      }
    },
  };
}

/** Letters and digits only: it becomes the name of a folder. */
function tempName(ids: Ids): string {
  return Buffer.from(ids.secret(TEMP_ID_BYTES), "base64url").toString("hex");
}

/** Null: the owner has switched the wall off. Where it could not be built, nothing is started: there is no silent way without. */
async function wallFor(sandbox: Sandbox, setting: string, { setting: name }: ProgramOrder): Promise<Wall | null> {
  if (setting === "off") return null;
  const wall = await sandbox.wall();
  if (wall.report.tier !== "none") return wall;
  const { because, advice } = wall.report;
  const say = `${name} is not started, because there is no wall to run it behind. ${because}${advice === null ? "" : ` ${advice}`} agent.sandbox "off" runs it without one.`;
  throw new GatewayError("sandbox_unusable", say, { say });
}

/** What comes later wins: nobody sets HOME or TMPDIR, and a program may have another PATH or locale. */
function variables({ path, locale }: Environment, { env }: ProgramOrder): readonly (readonly [string, string])[] {
  const own = Object.entries(env).map(([name, value]) => [name, value.reveal()] as const);
  return [["PATH", path || FALLBACK_PATH], ...Object.entries(locale), ...own];
}

interface ProgramNetwork {
  readonly confined: SandboxNetwork;
  readonly variables: Readonly<Record<string, string>>;
  /** Serves what the program asks for on its connection; null: it has none. */
  readonly opened: ((stream: Parameters<Egress["serve"]>[0]) => void) | null;
  close(): void;
}

/** A program serves everybody, so what it reaches is written down under its own name and not under somebody's. */
function callerOf({ name, setting }: ProgramOrder, network: NetworkSetting): EgressCaller {
  const id = `program:${name}`;
  return {
    of: {
      principal: id as Principal,
      sessionKey: id as SessionKey,
      agentId: id as AgentId,
      turnId: NO_TURN,
      role: "guest",
      origin: { channel: "program", account: "default", chat: name },
    },
    network: typeof network === "string" ? network : { allow: network.allow }, // there is no turn in which an owner could be asked
    over: NEVER,
    commands: () => [],
    setting: `${setting}.network`,
  };
}

/** In a network of its own a relay stands beside the program; elsewhere it finds a port of the gateway, and no other. */
function openNetwork(egress: Egress, order: ProgramOrder, wall: Wall | null): ProgramNetwork {
  const nothing = { variables: {}, opened: null, close: () => undefined };
  if (wall === null) return { ...nothing, confined: { kind: "open" } };
  if (order.network === "machine") return { ...nothing, confined: { kind: "open" } };
  if (order.network === "none") return { ...nothing, confined: { kind: "closed", ports: [] } };
  const caller = callerOf(order, order.network);
  if (wall.report.tier === "full") {
    const opened: ProgramNetwork["opened"] = (stream) => void egress.serve(stream, caller);
    return { ...nothing, confined: { kind: "closed", ports: [] }, opened };
  }
  const proxy = egress.listen(() => caller);
  return {
    ...nothing,
    confined: { kind: "closed", ports: [proxy.port] },
    variables: proxyVariables(`http://127.0.0.1:${proxy.port}`),
    close: () => proxy[Symbol.dispose](),
  };
}

interface LaunchParts {
  readonly wall: Wall | null;
  readonly network: ProgramNetwork;
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders of its own. */
  readonly write: readonly string[];
  readonly cwd: string;
}

function launchOf({ environment, settings }: ProgramsOptions, order: ProgramOrder, parts: LaunchParts): Launch {
  const { wall, network, id, env, write, cwd } = parts;
  const { userHome, path } = environment;
  const found = findCommand({ command: order.command, args: order.args, path: path || FALLBACK_PATH, userHome });
  if (found === null) {
    const say = `${order.setting}.command is "${order.command}", and there is no such program. Install it, or write its whole path.`;
    throw new GatewayError("program_unusable", say, { say });
  }
  const granted = order.folders.map(({ path: folder, access }) => ({ path: expandPath(folder, userHome), access }));
  const missing = granted.find((folder) => !existsSync(folder.path));
  if (missing !== undefined) {
    const say = `${missing.path}, which is listed in ${order.setting}.folders, does not exist.`;
    throw new GatewayError("program_unusable", say, { say });
  }
  const program: ConfinedProgram = {
    argv: [found.file, ...order.args],
    cwd,
    env,
    mark: limitMark(id),
    ...(network.opened === null ? {} : { relay: CONNECTION, descriptors: [CONNECTION] }),
  };
  if (wall === null) return { argv: program.argv, cwd, env, wrappers: 0 };
  const having = (access: "read" | "write") => granted.filter((one) => one.access === access).map((one) => one.path);
  return wall.confine(
    {
      write: [...write, ...having("write")],
      read: [...found.read, ...having("read")],
      readIfThere: found.readIfThere,
      list: found.list,
      network: network.confined,
      limits: settings().limits,
    },
    program,
  );
}
