/** What anyone may ask: whether the gateway lives, and the files of the web console. No detail about anything else. */
import { type Call, json, NO_BODY, type Route } from "../route.ts";
import type { ConsoleAssets, ConsoleFile } from "../types.ts";

const YEAR_SECONDS = 31_536_000;
const CONSOLE_HEADERS = {
  "content-security-policy":
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

export function publicRoutes(assets: ConsoleAssets, isReady: () => boolean | Promise<boolean>): readonly Route[] {
  const open = { method: "GET", auth: "public", scope: "open", body: NO_BODY } as const;
  return [
    { ...open, path: "/health", handle: () => json({ ok: true }) },
    { ...open, path: "/ready", handle: () => readiness(isReady) },
    ...[...assets.files].map(([path, file]) => ({
      ...open,
      path,
      handle: (call: Call) => consoleFile(call.request.headers, file, assets.build),
    })),
  ];
}

async function readiness(isReady: () => boolean | Promise<boolean>): Promise<Response> {
  const ok = await isReady();
  return json({ ok }, ok ? 200 : 503);
}

/** A file of the build as an answer; its policy lets nothing in from outside. */
export async function consoleFile(asked: Headers, file: ConsoleFile, build: string): Promise<Response> {
  const zipped = acceptsGzip(asked.get("accept-encoding")) ? file.gzip : undefined;
  const etag = `"${build}${zipped ? "-gz" : ""}"`;
  const headers: Record<string, string> = {
    ...CONSOLE_HEADERS,
    ...(file.policy === undefined ? {} : { "content-security-policy": file.policy }),
    "content-type": file.type,
    etag,
    "cache-control": file.immutable ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache",
    vary: "Accept-Encoding",
  };
  if (asked.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
  if (!zipped) return new Response(bodyOf(file.body ?? (await unpacked(file))), { headers });
  return new Response(bodyOf(zipped), { headers: { ...headers, "content-encoding": "gzip" } });
}

/** For the few who cannot read compressed files. */
async function unpacked({ gzip }: ConsoleFile): Promise<Uint8Array> {
  if (!gzip) return new Uint8Array();
  const packed = gzip instanceof Blob ? await gzip.bytes() : gzip;
  return Bun.gunzipSync(packed as Uint8Array<ArrayBuffer>);
}

/** A copy of the view's own bytes: types of shared memory are not accepted as a body. */
function bodyOf(body: Uint8Array | Blob): Blob | Uint8Array<ArrayBuffer> {
  return body instanceof Blob ? body : (body as Uint8Array<ArrayBuffer>);
}

function acceptsGzip(header: string | null): boolean {
  return (header ?? "")
    .split(",")
    .some((part) => /^\s*gzip\s*(;\s*q\s*=\s*(1|0?\.\d*[1-9]\d*)(\.0*)?\s*)?$/i.test(part));
}
