/** From a path an agent names to a file in the media store that may be sent, within the folders and rights that the settings name. */
import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import type { MediaKind } from "../contracts/chat.ts";
import type { AgentId, MediaId, Role, SessionKey } from "../contracts/ids.ts";
import type { OutgoingFiles } from "../contracts/agent-files.ts";
import type { ConversationFileStore } from "../contracts/store/conversation-files.ts";
import type { MediaStore } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { personFolder } from "../kit/person-folder.ts";
import type { SecretMask } from "../kit/secret.ts";
import { type FileReach, type FileSource, judgeSource } from "./file-rules.ts";
import { fileType, mediaKind } from "./file-type.ts";
import { receivedMediaId } from "./inbound/attached-files.ts";
import { openAgentFile, type OpenedFile } from "./open-agent-file.ts";

interface OutgoingDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly media: MediaStore;
  readonly conversationFiles: ConversationFileStore;
  readonly mask: SecretMask;
}

export interface OutgoingOptions {
  /** The working folder of every agent, for every role. */
  readonly workspaces: readonly {
    readonly agentId: AgentId;
    readonly role: Role;
    readonly folder: string;
    readonly personal: boolean;
  }[];
  readonly roots: readonly string[];
  /** What people of each role may have sent to them. */
  readonly reach: Readonly<Record<Role, FileReach>>;
  /** A root that contains this one would hand out the gateway's own files. */
  readonly stateDirectory: string;
  readonly maxBytes: number;
  readonly uid: number;
}

const KIND_WORDS: Readonly<Record<MediaKind, string>> = {
  photo: "a picture (PNG, JPEG, GIF, WebP or BMP; an SVG has to be converted first)",
  audio: "an audio file",
  video: "a video",
  document: "a file",
};

const HOLDS_SECRET = "The file holds a token or a key of this gateway, and is not sent.";
/** Of everything else the content is packed, and a secret in it looks like nothing that is known. */
const READABLE = /^(?:text\/|application\/json$|image\/svg)/;

interface LiveOutgoingFiles extends OutgoingFiles {
  /** The settings are others now. Folders that were looked at stay what they were then: a link that an agent made opens none. */
  apply(options: OutgoingOptions): Promise<void>;
}

/** Looks at each folder once. */
export async function openOutgoingFiles(deps: OutgoingDeps, first: OutgoingOptions): Promise<LiveOutgoingFiles> {
  const { log } = deps;
  const stateDirectory = await realpath(first.stateDirectory);
  const seen = new Map<string, string>();
  const real = async (folder: string): Promise<string | null> => {
    const path = seen.get(folder) ?? (await realpath(folder).catch(() => null));
    if (path === null) log.warn("folder for outgoing files does not exist", { folder });
    else seen.set(folder, path);
    const isOpen = path === null || !isBelow(path, stateDirectory);
    if (!isOpen) log.warn("folder for outgoing files contains the state directory and is not used", { folder });
    return isOpen ? path : null;
  };
  const open = async (options: OutgoingOptions) => {
    const bases = new Map<string, { readonly path: string | null; readonly personal: boolean }>();
    for (const { agentId, role, folder, personal } of options.workspaces)
      bases.set(`${agentId}/${role}`, { path: await real(folder), personal });
    const extra = await Promise.all(options.roots.map(real));
    return { options, bases, shared: extra.filter((root) => root !== null) };
  };
  let current = await open(first);

  return {
    async apply(next) {
      current = await open(next);
    },
    async take({ path, agentId, role, owner, sessionKey, as }, signal) {
      const { options, bases, shared } = current;
      const workspace = bases.get(`${agentId}/${role}`);
      const base =
        workspace?.personal && workspace.path ? personFolder(workspace.path, owner) : (workspace?.path ?? null);
      const roots = base === null ? shared : [base, ...shared];
      const { maxBytes, uid } = options;
      const file = await openAgentFile(path, { base, roots, maxBytes, uid }, signal);
      const reach = options.reach[role];
      const source = reach === "workspace" ? "elsewhere" : await sourceOf(deps, file.about, sessionKey);
      const decision = judgeSource(reach, source);
      if (!decision.ok) return { kind: "refused", because: decision.because };
      if (!file.ok) return { kind: "refused", because: file.because };
      const mimeType = fileType(file.data);
      if (as !== undefined && as !== "document" && mediaKind(mimeType) !== as)
        return {
          kind: "refused",
          because: `That file is not ${KIND_WORDS[as]}. Leave the type out, or send it as a document.`,
        };
      const { mask } = deps;
      if (holdsSecret(file.data, mimeType, mask)) return { kind: "refused", because: HOLDS_SECRET };
      const mediaId = deps.ids.next("media") as MediaId;
      const { data } = file;
      const name = mask.text(file.name);
      const media = await deps.media.put({ mediaId, owner, name, mimeType, data, at: deps.clock.now() });
      return { kind: "taken", media: as === undefined ? media : { ...media, as } };
    },
  };
}

function isBelow(folder: string, path: string): boolean {
  return `${path}${sep}`.startsWith(folder === sep ? sep : `${folder}${sep}`);
}

/** Files made by a tool of this conversation were born while one of its calls ran; what people attached has a name of our own. */
export async function sourceOf(
  { conversationFiles }: Pick<OutgoingDeps, "conversationFiles">,
  file: OpenedFile | null,
  sessionKey: SessionKey,
): Promise<FileSource> {
  if (!file) return "elsewhere";
  const mediaId = file.isInBase ? receivedMediaId(file.parts) : null;
  if (mediaId !== null) return (await conversationFiles.isReceived(sessionKey, mediaId)) ? "received" : "elsewhere";
  if (file.bornAt <= 0) return "elsewhere";
  return (await conversationFiles.ranToolAt(sessionKey, file.bornAt)) ? "made" : "elsewhere";
}

function holdsSecret(data: Uint8Array, mimeType: string, mask: SecretMask): boolean {
  if (!READABLE.test(mimeType)) return false;
  const text = new TextDecoder().decode(data);
  return mask.text(text) !== text;
}
