/** Files: those that people send, those that agents may open, and those that agents may send. Settings and folders come from the configuration. */
import {
  agentProfiles,
  agentWorkspace,
  hasPersonalWorkspaces,
  preparePersonFolder,
  profileKey,
  removeSession,
  workspaceFor,
} from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import type { InboundFiles } from "../contracts/channels/platform.ts";
import type { AttachedFiles, OutgoingFiles } from "../contracts/agent-files.ts";
import type { MediaId } from "../contracts/ids.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import {
  type AttachedDeps,
  createAttachedFiles,
  createInboundFiles,
  createShrinker,
  inboundSettings,
  openOutgoingFiles,
  type OutgoingOptions,
} from "../media/index.ts";
import type { Core } from "./core.ts";

const MEDIA = "media/";
const MIB = 1024 * 1024;

/** Files that people send, on whichever channel. */
export function openInboundFiles({ clock, ids, log, store, config, options }: Core): InboundFiles {
  const { bun, bunEnv } = options;
  return createInboundFiles(
    {
      clock,
      ids,
      log,
      media: store.media,
      transcriptions: store.transcriptions,
      resolve: systemResolver,
      shrinker: createShrinker({ clock }, { bun, bunEnv }), // runs Bun for pictures that have to be decoded
    },
    () => inboundSettings(config()),
  );
}

/** Deletes files that are listed as dead: of sessions, and of media as `media/ID`. One that is gone already is fine. */
export function deadFileRemover(
  { media, sessionFiles }: Pick<Core["store"], "media" | "sessionFiles">,
  home: string,
): (name: string) => Promise<void> {
  return async (name) => {
    if (name.startsWith(MEDIA)) return media.removeFile(name.slice(MEDIA.length) as MediaId);
    await removeSession(home, name);
    await sessionFiles.remove(name);
  };
}

/** Tools that can open what lies in the workspace. */
const READS = ["read", "bash"];

type FileCore = Pick<Core, "log" | "config" | "options"> & { readonly store: Pick<Core["store"], "media"> };

/** For agents whose tools can read files. */
export function createWorkspaceFiles({ log, store, config, options }: FileCore): AttachedFiles {
  const workspaceOf: AttachedDeps["workspaceOf"] = async (agentId, role, principal) => {
    const tier = options.sandbox.report()?.tier ?? "none";
    const profile = agentProfiles(config(), tier).get(profileKey(agentId, role));
    if (!profile) return null;
    const { tools } = profile.config;
    const reads = typeof tools === "string" ? tools !== "chat" : tools.some((name) => READS.includes(name));
    if (!reads) return null;
    const workspace = workspaceFor(profile.config, options, principal);
    if (hasPersonalWorkspaces(profile.config)) await preparePersonFolder(workspace); // a file may come before a process
    return workspace;
  };
  return createAttachedFiles({ log, media: store.media, workspaceOf });
}

interface LiveOutgoingFiles extends OutgoingFiles {
  reload(config: Config): Promise<void>;
}

/** Files that agents may send; a reload takes effect with the next file. */
export async function openAgentFiles({
  clock,
  ids,
  log,
  secrets,
  store,
  config,
  options,
}: Core): Promise<LiveOutgoingFiles> {
  const files = await openOutgoingFiles(
    { clock, ids, log, mask: secrets.mask, media: store.media, conversationFiles: store.conversationFiles },
    outgoingOptions(config(), options),
  );
  return { take: files.take, reload: (next) => files.apply(outgoingOptions(next, options)) };
}

function outgoingOptions(config: Config, { home, environment }: Core["options"]): OutgoingOptions {
  const workspaces = [...agentProfiles(config).values()].map(({ id: agentId, role, config: own }) => ({
    agentId,
    role,
    folder: agentWorkspace(own, { home, environment }),
    personal: hasPersonalWorkspaces(own),
  }));
  return {
    workspaces,
    roots: config.media.roots,
    reach: { owner: "workspace", ...config.media.send },
    stateDirectory: home,
    maxBytes: config.media.maxMb * MIB,
    uid: process.getuid?.() ?? 0,
  };
}
