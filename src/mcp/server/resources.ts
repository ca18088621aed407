/** Resources for MCP clients: notes, transcripts and media as this caller may see them, and those of plugins. Known secrets are masked in text. */
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { MediaId, SessionKey } from "../../contracts/ids.ts";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import type { McpSurface, PluginResource } from "../../contracts/plugin.ts";
import type { MediaStore, SessionStore } from "../../contracts/store.ts";
import type { Note, NoteStore } from "../../contracts/store/notes.ts";
import type { Clock } from "../../kit/clock.ts";
import type { SecretMask } from "../../kit/secret.ts";
import { fill, isTemplate, match, MEDIA, NOTE, TRANSCRIPT } from "./addresses.ts";
import { withinTime } from "./plugin-time.ts";

export interface ResourceDeps {
  readonly clock: Clock;
  /** Of the person behind an id, whatever other ids they have. */
  readonly notes: Pick<NoteStore, "list" | "get">;
  readonly sessions: Pick<SessionStore, "get" | "list" | "transcript">;
  readonly media: Pick<MediaStore, "list" | "find" | "read">;
  readonly surface: Pick<McpSurface, "resources">;
  readonly mask: SecretMask;
}

interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

interface ReadContent {
  readonly uri: string;
  readonly mimeType: string;
  readonly text?: string;
  /** Base64. */
  readonly blob?: string;
}

/** Of each kind, newest first; others are found by their address. */
const LISTED = 50;
const TRANSCRIPT_ITEMS = 100;
const PLUGIN_READ_MS = 30_000;
const TEXT = "text/plain";
const MARKDOWN = "text/markdown";
const BYTES = "application/octet-stream";

/** The addresses that have names in braces. */
export function resourceTemplates({ surface }: Pick<ResourceDeps, "surface">): readonly ListedResource[] {
  const own = [
    { uri: NOTE, name: "note", title: "Note", description: "A note of yours", mimeType: MARKDOWN },
    {
      uri: TRANSCRIPT,
      name: "transcript",
      title: "Transcript",
      description: `The last ${TRANSCRIPT_ITEMS} messages of a session, by its key`,
      mimeType: MARKDOWN,
    },
    { uri: MEDIA, name: "media", title: "File", description: "A file that was sent or received" },
  ];
  return [
    ...own,
    ...surface
      .resources()
      .filter(({ uri }) => isTemplate(uri))
      .map(listed),
  ];
}

export async function listResources(deps: ResourceDeps, asking: McpAsking): Promise<readonly ListedResource[]> {
  const { principal } = asking.caller;
  const [sessions, notes, media] = await Promise.all([
    deps.sessions.list({ within: asking.reach }, { limit: LISTED }),
    deps.notes.list(principal, LISTED),
    deps.media.list(principal, LISTED),
  ]);
  const all = [
    ...deps.surface
      .resources()
      .filter(({ uri }) => !isTemplate(uri))
      .map(listed),
    ...sessions.items
      .filter(({ key }) => asking.sees(key))
      .map(({ key, title }) => ({ uri: fill(TRANSCRIPT, { key }), name: key, title, mimeType: MARKDOWN })),
    ...notes.map(({ id, title }) => ({ uri: fill(NOTE, { id }), name: title, mimeType: MARKDOWN })),
    ...media.map(({ mediaId, name, mimeType }) => ({ uri: fill(MEDIA, { id: mediaId }), name, mimeType })),
  ];
  return all.map((one) => maskListed(one, deps.mask));
}

function listed({ uri, name, description, mimeType }: PluginResource): ListedResource {
  return { uri, name, ...(description ? { description } : {}), ...(mimeType ? { mimeType } : {}) };
}

function maskListed({ title, ...rest }: ListedResource, mask: SecretMask): ListedResource {
  return { ...rest, name: mask.text(rest.name), ...(title === undefined ? {} : { title: mask.text(title) }) };
}

/** Null: there is no such resource, or none that this caller may see; which of them is not told. */
export async function readResource(
  deps: ResourceDeps,
  asking: McpAsking,
  uri: string,
  signal: AbortSignal,
): Promise<ReadContent | null> {
  const note = match(NOTE, uri);
  if (note) return readNote(deps, asking, uri, note["id"] ?? "");
  const session = match(TRANSCRIPT, uri);
  if (session) return readTranscript(deps, asking, uri, (session["key"] ?? "") as SessionKey);
  const file = match(MEDIA, uri);
  if (file) return readMedia(deps, asking, uri, (file["id"] ?? "") as MediaId);
  return readOfPlugin(deps, asking, uri, signal);
}

async function readNote({ notes, mask }: ResourceDeps, { caller }: McpAsking, uri: string, id: string) {
  const note = await notes.get(caller.principal, id);
  return note && { uri, mimeType: MARKDOWN, text: mask.text(noteText(note)) };
}

function noteText({ title, content, tags }: Note): string {
  return [`# ${title}`, content, ...(tags.length > 0 ? [`Tags: ${tags.join(", ")}`] : [])].join("\n\n");
}

async function readTranscript({ sessions, mask }: ResourceDeps, asking: McpAsking, uri: string, key: SessionKey) {
  const session = asking.sees(key) ? await sessions.get(key) : null;
  if (!session) return null;
  const { items, next } = await sessions.transcript(key, { limit: TRANSCRIPT_ITEMS });
  const earlier = next === undefined ? [] : ["(Earlier messages are left out.)"];
  const text = [`# ${session.title}`, ...earlier, ...items.filter(isSaid).map(itemText)].join("\n\n");
  return { uri, mimeType: MARKDOWN, text: mask.text(text) };
}

const isSaid = ({ text, deleted }: TranscriptItem): boolean => text !== "" && deleted !== true;

function itemText({ role, sender, at, text, tool }: TranscriptItem): string {
  const who = role === "tool" ? `Tool ${tool ?? ""}` : role === "assistant" ? "Assistant" : (sender?.name ?? "User");
  return `**${who}** (${new Date(at).toISOString()}):\n${text}`;
}

/** One's own files; an owner sees all. Nothing says which agent a file is about, so a key for some agents sees none of others. */
async function readMedia({ media }: ResourceDeps, { caller }: McpAsking, uri: string, id: MediaId) {
  const found = await media.find(id);
  if (!found || (found.owner !== caller.principal && caller.role !== "owner")) return null;
  const data = await media.read(id);
  return data && { uri, mimeType: found.mimeType || BYTES, blob: Buffer.from(data).toString("base64") };
}

async function readOfPlugin(
  { clock, surface, mask }: ResourceDeps,
  { caller }: McpAsking,
  uri: string,
  signal: AbortSignal,
) {
  for (const resource of surface.resources()) {
    const variables = match(resource.uri, uri);
    if (!variables) continue;
    const read = (until: AbortSignal) => resource.read({ uri, variables, caller, signal: until });
    const content = await withinTime(clock, PLUGIN_READ_MS, read, signal);
    if ("text" in content) return { uri, mimeType: resource.mimeType ?? TEXT, text: mask.text(content.text) };
    return { uri, mimeType: resource.mimeType ?? BYTES, blob: content.base64 };
  }
  return null;
}
