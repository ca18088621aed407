/** What channels get when they are opened, and who may come in by them: configuration, pairing and the store brought together. */

import { createPlatforms, type PlatformEntry, type Platforms } from "../channels/index.ts";
import { agentProfiles, agentWorkspace } from "../agents/index.ts";
import type { Config, Environment } from "../config/index.ts";
import type { ChatReceiver } from "../contracts/channel.ts";
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { InboundFiles, PlatformDeps } from "../contracts/channels/platform.ts";
import type { Commands } from "../contracts/command.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { AttachedFiles } from "../contracts/media/files.ts";
import type { Router } from "../contracts/routing.ts";
import type { Store } from "../contracts/store.ts";
import type { Approvals } from "../contracts/tools/approval.ts";
import { createDoor, type GroupTalk } from "../flow/index.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { systemResolver } from "../kit/outside/guarded-fetch.ts";
import {
  type AttachedDeps,
  createAttachedFiles,
  createInboundFiles,
  createShrinker,
  type InboundSettings,
} from "../media/index.ts";

const MIB = 1024 * 1024;
const USUAL_LISTENER = "https://api.groq.com/openai/v1";

export interface WayInParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  readonly store: Store;
  readonly router: Router;
  readonly receiver: ChatReceiver;
  readonly pairing: Pairing;
  readonly commands: Commands;
  readonly files: InboundFiles;
  readonly approvals: Approvals;
  readonly questions: PlatformDeps["questions"];
  readonly outbox: Pick<Outbox, "owes">;
  readonly groupTalk: GroupTalk;
}

export interface WayInOptions {
  readonly platforms: readonly PlatformEntry[];
  /** Names of channels that no plugin may take. */
  readonly taken: readonly string[];
}

/** Files that people send, whichever way they come. `bun`: runs Bun, for pictures that have to be decoded. */
export function inboundFiles(
  { clock, ids, log, store }: Pick<WayInParts, "clock" | "ids" | "log" | "store">,
  run: { readonly bun: readonly string[]; readonly bunEnv: Readonly<Record<string, string>> },
  config: () => Config,
): InboundFiles {
  const { media, spokenWords } = store;
  const deps = {
    clock,
    ids,
    log,
    media,
    spokenWords,
    resolve: systemResolver,
    shrinker: createShrinker({ clock }, run),
  };
  return createInboundFiles(deps, () => inboundSettings(config()));
}

/** Opens nothing yet: `apply` does. */
export function createWayIn(parts: WayInParts, options: WayInOptions): Platforms {
  const { clock, ids, log, events, store, commands, files } = parts;
  const deps: PlatformDeps = {
    ...{ clock, ids, log, events, facts: store.channelFacts, files },
    ...{ approvals: parts.approvals, questions: parts.questions },
    door: createDoor({
      ...parts,
      inbox: store.inbox,
      reactions: { events, messages: store.messages, reactions: store.outbox },
      groupTalk: parts.groupTalk,
    }),
    owes: (to) => parts.outbox.owes(to),
    commands: (role) => commands.list(role),
  };
  return createPlatforms(deps, options.platforms, options.taken);
}

export function inboundSettings({ media }: Pick<Config, "media">): InboundSettings {
  const { baseUrl, model, apiKey, enabled } = media.transcription;
  const on = enabled ?? (apiKey !== undefined || baseUrl !== USUAL_LISTENER);
  return {
    maxBytes: media.maxMb * MIB,
    dailyBytes: media.dailyMb * MIB,
    transcription: on ? { baseUrl, model, apiKey } : null,
  };
}

/** Tools that can open what lies in the workspace. */
const READS = ["read", "bash"];

/** For agents whose tools can read files. */
export function attachedFiles(
  { log, store, config }: { readonly log: Log; readonly store: Pick<Store, "media">; readonly config: () => Config },
  folders: { readonly home: string; readonly environment: Environment },
): AttachedFiles {
  const workspaceOf: AttachedDeps["workspaceOf"] = (agentId, role) => {
    const profile = [...agentProfiles(config()).values()].find((one) => one.id === agentId && one.role === role);
    if (!profile) return null;
    const { tools } = profile.config;
    const reads = typeof tools === "string" ? tools !== "chat" : tools.some((name) => READS.includes(name));
    return reads ? agentWorkspace(profile.config, folders) : null;
  };
  return createAttachedFiles({ log, media: store.media, workspaceOf });
}
