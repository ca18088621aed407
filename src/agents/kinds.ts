/** The kinds of processes a pool runs: one for each agent that differs, and more for sessions whose model is of another provider. */
import { join, sep } from "node:path";
import type { LeaseRequest } from "../contracts/agent.ts";
import type { Config, Environment } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import { DEFAULT_AGENT, type AgentId } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import { personFolder } from "../kit/person-folder.ts";
import type { PlayedAgents } from "./process/played.ts";
import { LOCK_HELD_MS } from "./process/dead-locks.ts";
import { childNotes } from "./process/orphans.ts";
import {
  type AgentProfile,
  agentProfiles,
  type ProfileSignature,
  profileFolder,
  profileKey,
  profileSignature,
} from "./profile.ts";
import type { Machine } from "./pool-size.ts";
import { choiceForSession, profileForModel } from "./session-model.ts";
import { agentFolders, type PreparedFolders, prepareFolders } from "./setup/agent-folder.ts";
import { type ModelChoice, chooseModel } from "./setup/model-choice.ts";
import { findResources } from "./setup/resources.ts";
import type { StartSettings } from "./setup/start.ts";
import { hasPersonalWorkspaces, workspaceFor } from "./setup/workspace.ts";
import type { GatewayFeatures } from "./setup/system-prompt.ts";
import { type StartRecord, createStartRecord } from "./start-record.ts";
import { refuseLinkedFolder } from "./workspaces/person-folder.ts";

const HANDSHAKE_MS = 20_000;
/** Collects garbage earlier: an agent holds 6 MB less, after its start as after 200 turns, and a turn costs the same. */
const SMALL_HEAP = "--smol";
/** People choose among the providers they have keys for, and each may have a folder of their own. */
const MAX_MORE_KINDS = 1_000;

export interface PoolOptions {
  readonly home: string;
  readonly config: Config["agent"];
  /** Every agent there is, for every role. Default: the one of `config` alone. */
  readonly profiles?: ReadonlyMap<string, AgentProfile>;
  /** What the instructions may speak of. Default: nothing. */
  readonly features?: GatewayFeatures;
  /** Of plugins, for every agent, in addition to its own. Default: none. */
  readonly pluginSkills?: readonly string[];
  /** Folders whose files agents may send, and so may read. Default: none. */
  readonly sendable?: readonly string[];
  readonly models: Config["models"];
  readonly environment: Environment;
  /** Absolute path of the extension that every process loads. */
  readonly bridgePath: string;
  /** How Bun is run, and what it needs in its environment for that. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
  readonly starts?: StartLimits;
}

/** Limits of starting processes, and of how many there may be. */
interface StartLimits {
  /** How long a new process may take to answer its first question. Default 20 s: a loaded machine is slow. */
  readonly handshakeMs?: number;
  /** How long a lock that a starting process waits for is watched before it counts as a dead one's. Default 3 s. */
  readonly lockHeldMs?: number;
  /** Processes that may be starting at the same time. Default: one per core, since a start is work for one. */
  readonly atOnce?: number;
  /** What the machine holds now. Default: it is looked at. */
  readonly measure?: () => Machine;
}

/** How processes of one kind are started, and how that has gone. One agent that does not start holds no other back. */
export interface Kind {
  readonly agentId: AgentId;
  readonly signature: ProfileSignature;
  readonly settings: StartSettings;
  readonly starts: StartRecord;
}

interface KindsDeps {
  readonly clock: Clock;
  /** Agents that are played need no folders. */
  readonly played?: PlayedAgents;
}

type Wanted = Pick<LeaseRequest, "caller" | "model">;

interface MoreWanted {
  readonly profile: AgentProfile;
  /** The workspace of one person; null: it is everybody's. */
  readonly personal: string | null;
  readonly folder: readonly string[];
  /** Undefined: the agent's own. */
  readonly choice: ModelChoice | undefined;
}

export interface Kinds {
  readonly standard: Kind;
  /** Of the agents themselves. */
  readonly own: readonly Kind[];
  /** Makes sure that `of` knows what this request needs; null when it does already. Throws `agent_unknown`, `model_missing`, `home_unusable`. */
  prepare(request: Wanted): Promise<unknown> | null;
  of(request: Wanted): Kind;
}

export async function openKinds(deps: KindsDeps, options: PoolOptions): Promise<Kinds> {
  const profiles = options.profiles ?? agentProfiles({ agent: options.config, agents: [] });
  const own = new Map<string, Kind>(); // by `profileKey`
  const signatureOf = (profile: AgentProfile) => profileSignature(profile, options.features, options.pluginSkills);
  const nameOf = ({ hard, soft }: ProfileSignature): string => JSON.stringify([hard, soft]);
  const bySignature = new Map<string, Promise<Kind>>();
  const ready = new Map<string, Kind>();

  const open = (profile: AgentProfile, folder: readonly string[], choice?: ModelChoice): Promise<Kind> => {
    const signature = signatureOf(profile);
    const name = nameOf(signature);
    const known = bySignature.get(name);
    if (known) return known;
    const { id: agentId, config } = profile;
    const made = startSettings({ ...options, config, folder, choice }, deps.played).then((settings) => {
      const kind = { agentId, signature, settings, starts: createStartRecord(deps.clock) };
      ready.set(name, kind);
      return kind;
    });
    made.catch(() => bySignature.delete(name)); // the caller is told; the next request tries again
    bySignature.set(name, made);
    return made;
  };

  for (const [key, profile] of profiles) own.set(key, await open(profile, profileFolder(profile.id, profile.role)));
  const standard = own.get(profileKey(DEFAULT_AGENT, "owner"));
  if (!standard) throw new GatewayError("internal", "there is no default agent");

  /** What serves this request: the processes of the agent itself, or others that are opened for a person's folder or a session's model. */
  const wantedBy = ({ caller, model }: Wanted): { readonly own: Kind } | MoreWanted => {
    const { agentId, role, principal } = caller;
    const key = profileKey(agentId, role);
    const kind = own.get(key);
    const profile = profiles.get(key);
    // it may have left the configuration after a message for it was accepted
    if (!kind || !profile) throw new GatewayError("agent_unknown", `there is no agent ${agentId}`);
    const personal = hasPersonalWorkspaces(profile.config) ? workspaceFor(profile.config, options, principal) : null;
    const served = personal === null ? profile : withWorkspace(profile, personal);
    const session = profileForModel(served, kind.settings.choice, model);
    if (session.kind === "own" && personal === null) return { own: kind };
    const folder =
      personal === null
        ? profileFolder(agentId, role)
        : personFolder(join(...profileFolder(agentId, role)), principal).split(sep);
    if (session.kind === "own") return { profile: served, personal, folder, choice: undefined };
    const choice = choiceForSession(session, options.models, options.environment);
    return { profile: session.profile, personal, folder: [...folder, "providers", session.provider], choice };
  };

  return {
    standard,
    own: [...new Set(own.values())],
    prepare(request) {
      const wanted = wantedBy(request);
      if ("own" in wanted || ready.has(nameOf(signatureOf(wanted.profile)))) return null;
      if (ready.size >= own.size + MAX_MORE_KINDS) throw tooMany();
      const { profile, personal, folder, choice } = wanted;
      if (personal === null || deps.played) return open(profile, folder, choice);
      return refuseLinkedFolder(personal).then(() => open(profile, folder, choice));
    },
    of(request) {
      const wanted = wantedBy(request);
      if ("own" in wanted) return wanted.own;
      const found = ready.get(nameOf(signatureOf(wanted.profile)));
      if (found) return found;
      throw new GatewayError("internal", "a kind of process was not prepared");
    },
  };
}

function withWorkspace(profile: AgentProfile, workspace: string): AgentProfile {
  return { ...profile, config: { ...profile.config, workspace } };
}

interface SettingsOptions extends PoolOptions {
  /** Below the state directory: the folder of this kind of process. */
  readonly folder: readonly string[];
  /** Instead of what the settings of the agent say. */
  readonly choice?: ModelChoice | undefined;
}

/** What a process is started with; `probePi` uses the same. */
export async function startSettings(options: SettingsOptions, played?: PlayedAgents): Promise<StartSettings> {
  const choice = options.choice ?? chooseModel({ agent: options.config, models: options.models }, options.environment);
  const folders = agentFolders(options);
  let prepared: PreparedFolders = { restore: async () => undefined };
  try {
    if (!played) prepared = await prepareFolders(folders, options, choice);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown reason";
    throw new GatewayError("home_unusable", `the agent's folders could not be prepared: ${why}`, { cause });
  }
  return {
    config: options.config,
    environment: options.environment,
    folders,
    restore: prepared.restore,
    resources: findResources(options.config, options.environment.userHome, options.pluginSkills),
    choice,
    notes: childNotes(options.home),
    bridgePath: options.bridgePath,
    bun: [
      ...options.bun,
      SMALL_HEAP,
      `--preload=${options.bridgePath.replace(/\.js$/, ".preload.js")}`, // beside the bridge
      `--config=${folders.bunConfig}`,
      `--tsconfig-override=${folders.compilerConfig}`,
    ],
    bunEnv: options.bunEnv,
    handshakeMs: options.starts?.handshakeMs ?? HANDSHAKE_MS,
    lockHeldMs: options.starts?.lockHeldMs ?? LOCK_HELD_MS,
  };
}

function tooMany(): GatewayError {
  return new GatewayError("model_missing", "too many kinds of agent processes", {
    say: `More than ${MAX_MORE_KINDS} people and providers have been served since the start. Restart the gateway.`,
  });
}
