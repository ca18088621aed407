/**
 * A hundred times more than fits, in one burst, over HTTP and over the WebSocket, against small limits and a model that never answers:
 * everything beyond the limits is refused with a time to come back, and memory stays where it was.
 */
import { startGatewayProcess, type GatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { peakRssMb, rssMb } from "./parts/process-cost.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { round, timed } from "./parts/stats.ts";

export interface OverloadSize {
  readonly requests: number;
  readonly room: number;
  /** Of `UPLOAD_BYTES` each. */
  readonly uploads: number;
}

export interface Burst {
  readonly accepted: number;
  /** Refused with 429 (or `queue_full`) and a time to come back. */
  readonly politely: number;
  /** Anything else, by what it was. */
  readonly otherwise: Readonly<Record<string, number>>;
  readonly seconds: number;
}

export interface OverloadFigures {
  readonly http: Burst;
  readonly ws: Burst;
  /** Bodies of many megabytes, all at once; taken, or refused with a time to come back. */
  readonly uploads: { readonly taken: number; readonly politely: number; readonly otherwise: number };
  readonly rssBeforeMb: number;
  readonly rssPeakMb: number;
  readonly rssPeakWithUploadsMb: number;
  readonly healthMs: number;
}

const SESSIONS = 500;
const SOCKETS = 50;
const UPLOAD_BYTES = 20 * 1024 * 1024;

export async function measureOverload({ requests, room, uploads }: OverloadSize): Promise<OverloadFigures> {
  await using provider = await startProviderProcess({ hang: true });
  const queue = { mode: "followup", maxPerSession: room, maxTotal: room };
  const config = { ...benchConfig(provider.baseUrl), queue, gateway: { stopGraceMs: 0 } };
  await using gateway = await startGatewayProcess({ config });
  await (await gateway.fetch("/health")).text();
  const rssBeforeMb = rssMb(gateway.pid);
  const http = await burstHttp(gateway, requests);
  const ws = await burstWs(gateway, requests);
  const rssPeakMb = peakRssMb(gateway.pid);
  const healthMs = await timed(async () => (await gateway.fetch("/health")).text());
  const uploaded = await burstUploads(gateway, uploads);
  const rssPeakWithUploadsMb = peakRssMb(gateway.pid);
  return { http, ws, uploads: uploaded, rssBeforeMb, rssPeakMb, rssPeakWithUploadsMb, healthMs: round(healthMs) };
}

/** What counts is that they are held until they were read, whatever becomes of them then: kept, or over somebody's quota. */
async function burstUploads(gateway: GatewayProcess, uploads: number): Promise<OverloadFigures["uploads"]> {
  const body = new Uint8Array(UPLOAD_BYTES);
  const ends = await Promise.all(
    Array.from({ length: uploads }, async () => {
      const response = await gateway.fetch("/api/media", { method: "POST", body }).catch(() => null); // cut off
      await response?.arrayBuffer().catch(() => undefined); // the same
      return response === null
        ? "cut off"
        : `${response.status}${response.headers.has("retry-after") ? " politely" : ""}`;
    }),
  );
  const count = (end: string): number => ends.filter((one) => one === end).length;
  const politely = count("503 politely");
  const taken = ends.filter((end) => /^[24]\d\d/.test(end)).length;
  return { taken, politely, otherwise: uploads - taken - politely };
}

/** From a process of its own, which may open as many connections as it likes. */
async function burstHttp({ url, token }: GatewayProcess, requests: number): Promise<Burst> {
  const child = Bun.spawn([process.execPath, "--no-env-file", import.meta.path, url, token, String(requests)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { BUN_CONFIG_MAX_HTTP_REQUESTS: String(requests) },
  });
  const said = await new Response(child.stdout).text();
  await child.exited;
  return JSON.parse(said) as Burst;
}

async function burstWs({ url, token }: GatewayProcess, requests: number): Promise<Burst> {
  const count = createCount();
  const seconds = await timed(() =>
    Promise.all(
      Array.from({ length: SOCKETS }, (_, at) => pushFrames({ url, token, at }, requests / SOCKETS, count.add)),
    ),
  );
  return count.total(seconds / 1_000);
}

function pushFrames(
  { url, token, at }: { readonly url: string; readonly token: string; readonly at: number },
  frames: number,
  add: (kind: string) => void,
): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers } as never);
  const { promise, resolve } = Promise.withResolvers<void>();
  let answered = 0;
  socket.onopen = () => {
    for (let n = 0; n < frames; n++) {
      const session = `agent:default:webchat:dm:over-${(at * frames + n) % SESSIONS}`;
      const params = { session, text: `frame ${n}`, clientId: `over-${at}-${n}` };
      socket.send(JSON.stringify({ id: String(n), method: "chat.send", params }));
    }
  };
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(String(data)) as { ok?: boolean; error?: { code: string; retryAfterMs?: number } };
    if (frame.ok === undefined) return;
    const polite = frame.error?.code === "queue_full" && (frame.error.retryAfterMs ?? 0) > 0;
    add(frame.ok ? "accepted" : polite ? "politely" : (frame.error?.code ?? "nothing"));
    if (++answered === frames) socket.close();
  };
  socket.onclose = () => {
    for (; answered < frames; answered++) add("cut off");
    resolve();
  };
  return promise;
}

function createCount() {
  const counts: Record<string, number> = {};
  return {
    add(kind: string): void {
      counts[kind] = (counts[kind] ?? 0) + 1;
    },
    total(seconds: number): Burst {
      const { accepted = 0, politely = 0, ...otherwise } = counts;
      return { accepted, politely, otherwise, seconds: round(seconds) };
    },
  };
}

async function askOnce(url: string, token: string, at: number): Promise<string> {
  const given = { text: `request ${at}`, session: `over-${at % SESSIONS}`, stream: true };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const hanging = new AbortController();
  try {
    const options = { method: "POST", headers, body: JSON.stringify(given), signal: hanging.signal };
    const response = await fetch(`${url}/api/chat`, options);
    if (response.status === 200) {
      hanging.abort(); // accepted; nobody waits for what will not come
      return "accepted";
    }
    await response.text();
    const comeBack = Number(response.headers.get("retry-after")) > 0;
    return response.status === 429 && comeBack ? "politely" : `status ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : "failed";
  }
}

export const overload: Scenario = {
  name: "overload",
  async measure(scale) {
    const requests = Math.max(1_000, Math.round(10_000 * scale));
    const { http, ws, uploads, rssBeforeMb, rssPeakMb, rssPeakWithUploadsMb, healthMs } = await measureOverload({
      requests,
      room: requests / 100,
      uploads: Math.round(60 * scale),
    });
    const odd = (burst: Burst) => Object.values(burst.otherwise).reduce((sum, n) => sum + n, 0);
    return [
      { what: `${requests} requests at once, room for ${requests / 100}: accepted`, value: http.accepted, unit: "" },
      { what: "  refused with 429 and Retry-After", value: http.politely, unit: "" },
      { what: "  anything else", value: odd(http), unit: "", ...atMost(0) },
      { what: `${requests} WebSocket frames at once: refused with a time to come back`, value: ws.politely, unit: "" },
      { what: "  anything else ", value: odd(ws), unit: "", ...atMost(0) },
      { what: "  memory before", value: rssBeforeMb, unit: "MB" },
      { what: "  memory at its peak", value: rssPeakMb, unit: "MB", ...atMost(250) },
      { what: "  /health right after", value: healthMs, unit: "ms" },
      { what: "uploads of 20 MiB at once: held until they were read", value: uploads.taken, unit: "" },
      { what: "  refused with 503 and Retry-After", value: uploads.politely, unit: "" },
      { what: "  memory at its peak ", value: rssPeakWithUploadsMb, unit: "MB", ...atMost(1_024) },
    ];
  },
};

if (import.meta.main) {
  const [, , url = "", token = "", requests = "0"] = process.argv;
  const count = createCount();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: Number(requests) }, async (_, at) => count.add(await askOnce(url, token, at))),
  );
  console.log(JSON.stringify(count.total((performance.now() - started) / 1_000)));
  process.exit(0);
}
