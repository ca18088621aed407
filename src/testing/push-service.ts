/**
 * A push service on loopback that behaves like the original ones: it takes messages for the browsers it gave addresses to, refuses what is not
 * signed by the key that a browser subscribed with (RFC 8292), and answers as it is told to. It holds the browsers' private keys as well, so
 * that a test reads what a browser would read (RFC 8291).
 */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import type { PushNotice } from "../contracts/notifications.ts";

/** `hang`: the connection stays open and nothing comes. */
type PushAnswer = number | "hang" | { readonly status: number; readonly retryAfter: string };

interface PushedMessage {
  readonly browser: number;
  readonly notice: PushNotice;
  readonly ttlSeconds: number;
  readonly urgency: string | null;
  readonly contact: string;
}

interface TestBrowser {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

export interface TestPushService extends AsyncDisposable {
  readonly origin: string;
  /** Those that were taken, as browsers read them. */
  readonly taken: PushedMessage[];
  /** Statuses of everything that was asked. */
  readonly answered: number[];
  /** What it answers to the next messages, in order; then 201. */
  readonly next: PushAnswer[];
  /** A new browser that subscribed with this key of a gateway. */
  browser(applicationServerKey: string): TestBrowser;
}

interface Known {
  readonly applicationServerKey: string;
  readonly curve: ReturnType<typeof createECDH>;
  readonly auth: Buffer;
}

const MAX_BODY_BYTES = 4_096;
const MAX_JWT_HOURS = 24;

export function startPushService(): TestPushService {
  const known: Known[] = [];
  const taken: PushedMessage[] = [];
  const answered: number[] = [];
  const next: PushAnswer[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const status = await take(request);
      if (status === "hang") return new Promise<Response>(() => undefined);
      const told = typeof status === "number" ? { status, headers: {} } : retryOf(status);
      answered.push(told.status);
      return new Response(null, told);
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const take = async (request: Request): Promise<PushAnswer> => {
    const number = Number(new URL(request.url).pathname.split("/").at(-1));
    const browser = known[number];
    if (!browser) return 404;
    const contact = contactOf(request, browser, origin);
    if (contact === null) return 403;
    if (request.headers.get("content-encoding") !== "aes128gcm" || !request.headers.has("ttl")) return 400;
    const body = Buffer.from(await request.arrayBuffer());
    if (body.byteLength > MAX_BODY_BYTES) return 413;
    const answer = next.shift() ?? 201;
    if (answer !== 201) return answer;
    taken.push({
      browser: number,
      notice: JSON.parse(opened(browser, body)) as PushNotice,
      ttlSeconds: Number(request.headers.get("ttl")),
      urgency: request.headers.get("urgency"),
      contact,
    });
    return 201;
  };
  return {
    origin,
    taken,
    answered,
    next,
    browser(applicationServerKey) {
      const curve = createECDH("prime256v1");
      curve.generateKeys();
      const auth = randomBytes(16);
      const endpoint = `${origin}/push/${known.push({ applicationServerKey, curve, auth }) - 1}`;
      return { endpoint, keys: { p256dh: curve.getPublicKey("base64url"), auth: auth.toString("base64url") } };
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

function retryOf({ status, retryAfter }: { readonly status: number; readonly retryAfter: string }) {
  return { status, headers: { "retry-after": retryAfter } };
}

/** Who sends, as the signed token of the request says; null: it is not signed by the key that the browser subscribed with, or for another service. */
function contactOf(request: Request, { applicationServerKey }: Known, origin: string): string | null {
  const [, token = "", key = ""] =
    /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  const [header = "", claims = "", signature = ""] = token.split(".");
  if (key !== applicationServerKey) return null;
  const point = Buffer.from(key, "base64url");
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  const signed = Buffer.from(`${header}.${claims}`);
  const isSigned = verify(
    "sha256",
    signed,
    { key: publicKey, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, "base64url").toString() || "{}") as {
    aud?: string;
    exp?: number;
    sub?: string;
  };
  const hoursLeft = ((exp ?? 0) * 1_000 - Date.now()) / 3_600_000;
  return isSigned && aud === origin && hoursLeft > 0 && hoursLeft <= MAX_JWT_HOURS ? (sub ?? "") : null;
}

/** RFC 8188 with one record, and the keys of RFC 8291. */
function opened({ curve, auth }: Known, body: Buffer): string {
  const salt = body.subarray(0, 16);
  const idBytes = body.readUInt8(20);
  const senderKey = body.subarray(21, 21 + idBytes);
  const sealed = body.subarray(21 + idBytes);
  const hkdf = (secret: Uint8Array, from: Uint8Array, info: Uint8Array, bytes: number) =>
    Buffer.from(hkdfSync("sha256", secret, from, info, bytes));
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), curve.getPublicKey(), senderKey]);
  const secret = hkdf(curve.computeSecret(senderKey), auth, info, 32);
  const key = hkdf(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = hkdf(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const cipher = createDecipheriv("aes-128-gcm", key, nonce);
  cipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  return plain.subarray(0, plain.lastIndexOf(2)).toString("utf8"); // 2 ends the last record
}
