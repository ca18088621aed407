/** What a view of the web console asks the gateway for, heard in the browser and asked again from outside of it: the gateway's own time for each. */
import type { Page } from "playwright-core";
import type { WireEvent, WireResponse } from "../../../src/contracts/wire.ts";
import type { GatewayProcess } from "../../../src/testing/whole/gateway-process.ts";
import { median, timed } from "./stats.ts";

/** Reads alone: what is asked for to be changed is not asked again. */
export interface Asked {
  /** The path, or the method on the socket with its parameters. */
  readonly what: string;
  readonly again: { readonly path: string } | { readonly method: string; readonly params: unknown };
}

export interface Heard {
  /** Everything that was asked since the last call, each once. */
  taken(): readonly Asked[];
}

const AGAIN = 15;
const READS = /\.(list|get|status|report|search|page|read|history|show|find|explain|calendar|upcoming)$/;
const MAX_SHOWN = 90;

export function hearRequests(page: Page): Heard {
  const asked = new Map<string, Asked>();
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    const path = `${pathname}${search}`;
    if (request.method() === "GET" && pathname.startsWith("/api/")) asked.set(path, { what: path, again: { path } });
  });
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => {
      const { method, params } = JSON.parse(String(payload)) as { method: string; params: unknown };
      const what = `${method} ${JSON.stringify(params)}`.slice(0, MAX_SHOWN);
      if (READS.test(method)) asked.set(what, { what, again: { method, params } });
    }),
  );
  return {
    taken() {
      const all = [...asked.values()];
      asked.clear();
      return all;
    },
  };
}

/** Milliseconds for each, as a program on the same machine waits for the answer. */
export async function serverTimes(
  gateway: GatewayProcess,
  asked: readonly Asked[],
): Promise<readonly { readonly what: string; readonly ms: number }[]> {
  using socket = await openSocket(gateway);
  const times: { what: string; ms: number }[] = [];
  for (const { what, again } of asked) {
    const ask = () => ("path" in again ? readWhole(gateway, again.path) : socket.request(again.method, again.params));
    const samples: number[] = [];
    for (let at = 0; at < AGAIN; at++) samples.push(await timed(ask));
    times.push({ what, ms: median(samples) });
  }
  return times;
}

async function readWhole(gateway: GatewayProcess, path: string): Promise<void> {
  const response = await gateway.fetch(path);
  const text = await response.text();
  if (response.status >= 500) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`);
}

async function openSocket({ url, token }: GatewayProcess) {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers } as never);
  const waiting = new Map<string, (frame: WireResponse) => void>();
  let counter = 0;
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(String(data)) as WireEvent | WireResponse;
    if ("id" in frame) waiting.get(frame.id)?.(frame);
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("the socket did not open"));
  });
  return {
    request: (method: string, params: unknown) =>
      new Promise<WireResponse>((resolve) => {
        const id = String(++counter);
        waiting.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params }));
      }),
    [Symbol.dispose]: () => socket.close(),
  };
}
