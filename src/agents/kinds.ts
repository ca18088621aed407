/** The kinds of processes there are: one for every agent and role, the same one where they do not differ. Prepares their folders, starts none. */
import type { Config, Environment } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { AgentId, Role } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import {
  type AgentProfile,
  agentProfiles,
  type ProfileSignature,
  profileFolder,
  profileKey,
  profileSignature,
  sameSignature,
} from "./profile.ts";
import { agentFolders, prepareFolders } from "./setup/agent-folder.ts";
import { chooseModel } from "./setup/model-choice.ts";
import { findResources } from "./setup/resources.ts";
import type { StartSettings } from "./setup/start.ts";
import type { GatewayFeatures } from "./setup/system-prompt.ts";
import { childNotes } from "./process/orphans.ts";
import { type StartRecord, createStartRecord } from "./start-record.ts";

const HANDSHAKE_MS = 20_000;

export interface PoolOptions {
  readonly home: string;
  readonly config: Config["agent"];
  /** Every agent there is, for every role. Default: the one of `config` alone. */
  readonly profiles?: ReadonlyMap<string, AgentProfile>;
  /** What the instructions may speak of. Default: nothing. */
  readonly features?: GatewayFeatures;
  readonly models: Config["models"];
  readonly environment: Environment;
  /** Absolute path of the extension that every process loads. */
  readonly bridgePath: string;
  /** How Bun is run. Default: this very executable, without reading any .env file. */
  readonly bun?: readonly string[];
  readonly bunEnv?: Readonly<Record<string, string>>;
  /** How long a new process may take to answer its first question. Default 20 s: a loaded machine is slow. */
  readonly handshakeMs?: number;
  /** Processes that may be starting at the same time. Default: one per core, since a start is work for one. */
  readonly startsAtOnce?: number;
}

/** How processes of one kind are started, and how that has gone. One agent that does not start holds no other back. */
export interface Kind {
  readonly agentId: AgentId;
  readonly signature: ProfileSignature;
  readonly settings: StartSettings;
  readonly starts: StartRecord;
}

/** By `profileKey`. */
export type Kinds = ReadonlyMap<string, Kind>;

export async function kindsOf(deps: { readonly clock: Clock }, options: PoolOptions): Promise<Kinds> {
  const kinds = new Map<string, Kind>();
  const profiles = options.profiles ?? agentProfiles({ agent: options.config, agents: [] });
  for (const [key, profile] of profiles) {
    const signature = profileSignature(profile, options.features);
    const alike = [...kinds.values()].find((kind) => sameSignature(kind.signature, signature));
    const { id: agentId, role, config } = profile;
    const folder = profileFolder(agentId, role);
    const settings = alike?.settings ?? (await startSettings({ ...options, config, folder }));
    kinds.set(key, alike ?? { agentId, signature, settings, starts: createStartRecord(deps.clock) });
  }
  return kinds;
}

/** An agent may have left the configuration after a message for it was accepted. */
export function kindFor(kinds: Kinds, { agentId, role }: { readonly agentId: AgentId; readonly role: Role }): Kind {
  const kind = kinds.get(profileKey(agentId, role));
  if (kind) return kind;
  throw new GatewayError("agent_unknown", `there is no agent ${agentId}`);
}

/** What a process is started with; `probePi` uses the same. */
export async function startSettings(
  options: PoolOptions & { readonly folder?: readonly string[] },
): Promise<StartSettings> {
  const choice = chooseModel({ agent: options.config, models: options.models }, options.environment);
  const folders = agentFolders(options);
  try {
    await prepareFolders(folders, options, choice);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown reason";
    throw new GatewayError("home_unusable", `the agent's folders could not be prepared: ${why}`, { cause });
  }
  return {
    config: options.config,
    environment: options.environment,
    folders,
    resources: findResources(options.config, options.environment.userHome),
    choice,
    notes: childNotes(options.home),
    bridgePath: options.bridgePath,
    bun: [...(options.bun ?? [process.execPath, "--no-env-file"]), `--config=${folders.bunConfig}`],
    bunEnv: options.bunEnv ?? {},
    handshakeMs: options.handshakeMs ?? HANDSHAKE_MS,
  };
}
