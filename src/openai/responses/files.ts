/** Files of a request: text becomes part of what is said; any other file is put where the agent can open it, and the agent is told where. */
import { GatewayError } from "../../contracts/errors.ts";
import type { AgentId, Principal, Role } from "../../contracts/ids.ts";
import type { GivenFile } from "../../contracts/responses.ts";
import { oneLine } from "../../kit/marks/markers.ts";
import { type AddressDeps, readAddress } from "../address.ts";
import { wrongField } from "../fields.ts";

const MAX_FILES = 8;
/** A longer one does not fit into what a model reads at once; the agent opens it piece by piece. */
const MAX_TEXT_CHARS = 200_000;
const BYTES_PER_KIB = 1024;

export interface FileDeps extends AddressDeps {
  maxFileBytes(): number;
  /** Null: this agent opens no files. Throws GatewayError `file_refused`. */
  place(file: PlacedFile, reader: FileReader, signal: AbortSignal): Promise<{ path: string; mimeType: string } | null>;
}

interface PlacedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface FileReader {
  readonly agentId: AgentId;
  readonly role: Role;
  readonly principal: Principal;
}

/** What stands for the files in the words of their sender, in their order. */
export async function readFiles(
  deps: FileDeps,
  files: readonly GivenFile[],
  reader: () => FileReader,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (files.length > MAX_FILES) throw wrongField("input", `has more than ${MAX_FILES} files.`);
  const texts: string[] = [];
  for (const file of files) texts.push(await readFile(deps, file, reader, signal));
  return texts;
}

async function readFile(
  deps: FileDeps,
  { name, url }: GivenFile,
  reader: () => FileReader,
  signal: AbortSignal,
): Promise<string> {
  const read = await readAddress(deps, { url, maxBytes: deps.maxFileBytes(), accept: "*/*" }, signal);
  const shown = `"${oneLine(name)}"`;
  if (read.kind === "large") throw new GatewayError("too_large", "file too large", { fields: { param: "input" } });
  if (read.kind === "wrong")
    throw wrongField("input", `has the file ${shown}, which could not be taken: ${read.because}`);
  const text = textIn(read.bytes);
  if (text !== null) return `The file ${shown}:\n\n${text}`;
  const placed = await deps.place({ name, bytes: read.bytes }, reader(), signal);
  if (placed === null)
    throw wrongField("input", `has the file ${shown}, which is no text, and this agent has no tool that opens files.`);
  const kib = Math.ceil(read.bytes.byteLength / BYTES_PER_KIB);
  return `(The file ${shown}, ${placed.mimeType}, ${kib} KiB, is saved as ${placed.path}.)`;
}

/** Null: it is no text, or too long to be said. */
function textIn(bytes: Uint8Array): string | null {
  if (bytes.byteLength > MAX_TEXT_CHARS * 4 || bytes.includes(0)) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.length <= MAX_TEXT_CHARS && !text.startsWith("%PDF-") ? text : null;
  } catch {
    return null; // not UTF-8
  }
}
