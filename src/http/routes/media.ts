/** Pictures and files in and out. In: by their bytes. Out: by a signed link, with headers that keep a browser from running anything. */
import { GatewayError } from "../../contracts/errors.ts";
import type { MediaRef } from "../../contracts/chat.ts";
import type { MediaId } from "../../contracts/ids.ts";
import { MAX_NAME_CHARS, storeFile } from "../chat/accept-message.ts";
import { isImageType } from "../chat/image-type.ts";
import { type Call, json, NO_BODY, OPERATOR_POST, param, principalOf, type Route } from "../route.ts";
import { CHAT } from "../access/key-reach.ts";
import type { HttpDeps, ServerParts } from "../types.ts";

const CACHE_SECONDS = 3_600;
const UNKNOWN_TYPE = "application/octet-stream";

export function mediaRoutes(
  deps: Pick<HttpDeps, "messages" | "store">,
  { links, limits }: Pick<ServerParts, "links" | "limits">,
): readonly Route[] {
  return [
    {
      ...OPERATOR_POST,
      path: "/api/media",
      scope: CHAT,
      body: { kind: "bytes", maxBytes: () => limits().maxUploadBytes },
      async handle(call) {
        const owner = principalOf(call);
        const name = nameOf(call.request.headers.get("x-filename"));
        const media = await storeFile(deps, limits(), { name, data: call.bytes, owner }, call.signal);
        const { mediaId } = media;
        const heard = call.request.headers.has("x-transcribe") ? await wordsOf(deps, media, call.signal) : {};
        return json({ mediaId, url: links.sign(mediaId, "inline"), ...heard });
      },
    },
    {
      method: "GET",
      path: "/media/:id",
      auth: "signed",
      scope: "open",
      body: NO_BODY,
      handle: (call) => serve(deps, call),
    },
  ];
}

/** Of a voice recording. Nothing where the gateway has no service that listens; `trouble` says why there are none this time. */
async function wordsOf({ messages }: Pick<HttpDeps, "messages">, media: MediaRef, signal: AbortSignal) {
  const heard = await messages.files.transcribe(media, signal);
  if (heard.kind === "off") return {};
  return heard.kind === "words" ? { words: heard.text } : { trouble: heard.say };
}

async function serve(deps: Pick<HttpDeps, "store">, call: Call): Promise<Response> {
  const mediaId = param(call, "id") as MediaId;
  const found = await deps.store.media.find(mediaId);
  const data = found && (await deps.store.media.read(mediaId));
  if (!found || !data) throw new GatewayError("not_found", "no such media");
  const shown = isImageType(found.mimeType);
  const how = shown && call.disposition === "inline" ? "inline" : "attachment";
  return new Response(data as Uint8Array<ArrayBuffer>, {
    headers: {
      "content-type": shown ? found.mimeType : UNKNOWN_TYPE,
      "content-disposition": `${how}; filename*=UTF-8''${encodeURIComponent(found.name).replaceAll("'", "%27")}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": `private, max-age=${CACHE_SECONDS}`,
    },
  });
}

/** What the sender calls the file, for display; percent-encoded, because headers cannot carry every character. */
function nameOf(header: string | null): string {
  try {
    const name = decodeURIComponent(header ?? "")
      .replaceAll(/[\p{Cc}/\\]/gu, "_")
      .trim();
    return name === "" ? "file" : name.slice(0, MAX_NAME_CHARS).toWellFormed();
  } catch {
    return "file"; // an unreadable name is no reason to refuse a file
  }
}
