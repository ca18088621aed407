/** Ten thousand idle consoles on the WebSocket, and one event that goes to all of them. As many as the machine lets one process open. */
import { readFileSync } from "node:fs";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { rssMb } from "./parts/process-cost.ts";
import { median, round } from "./parts/stats.ts";

export interface SocketFigures {
  readonly opened: number;
  readonly failed: number;
  /** From the event's cause to the last client that has it. */
  readonly lastMs: number;
  readonly rssBeforeMb: number;
  readonly rssAfterMb: number;
}

const CROWDS = 2;
const OPEN_AT_ONCE = 100;
const EVENTS = 5;
/** Files of the gateway that are not sockets, with room to spare. */
const OTHER_FILES = 500;

type Report = { readonly opened: number; readonly failed: number } | { readonly lastAt: number };

/** `wanted` is brought down to what a process may open here. */
export async function measureSockets(wanted: number): Promise<SocketFigures> {
  const clients = Math.min(wanted, openFilesLimit() - OTHER_FILES);
  await using gateway = await startGatewayProcess({ config: { agent: { pool: { min: 0 } } } });
  const rssBeforeMb = rssMb(gateway.pid);
  const crowds = Array.from({ length: CROWDS }, () =>
    startCrowd(gateway.url, gateway.token, Math.floor(clients / CROWDS)),
  );
  const opened = await Promise.all(crowds.map(({ next }) => next()));
  const rssAfterMb = rssMb(gateway.pid);
  const last: number[] = [];
  for (let event = 0; event < EVENTS; event++) {
    const heard = Promise.all(crowds.map(({ next }) => next()));
    const begun = Date.now();
    // A command is answered by the gateway itself. Its turn begins once, so that everybody gets one event and not the answer on top of it.
    const sent = gateway.chat("/help", { session: "sockets" });
    const reports = await heard;
    await sent;
    last.push(Math.max(...reports.map((report) => ("lastAt" in report ? report.lastAt : begun))) - begun);
  }
  for (const { stop } of crowds) await stop();
  const sum = (name: "opened" | "failed") => opened.reduce((all, one) => all + ("opened" in one ? one[name] : 0), 0);
  return { opened: sum("opened"), failed: sum("failed"), lastMs: median(last), rssBeforeMb, rssAfterMb };
}

function openFilesLimit(): number {
  const [, soft] = /Max open files\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return Number(soft);
}

function startCrowd(url: string, token: string, clients: number) {
  const child = Bun.spawn([process.execPath, "--no-env-file", import.meta.path, url, token, String(clients)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = readLines(child.stdout);
  return {
    async next(): Promise<Report> {
      const { value } = await lines.next();
      return JSON.parse(value ?? '{"opened":0,"failed":0}') as Report;
    },
    async stop(): Promise<void> {
      child.kill();
      await child.exited;
    },
  };
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of stream) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
}

/** One process full of clients: opens them, says so, then reports when the last one has heard each event. */
async function beCrowd(url: string, token: string, clients: number): Promise<void> {
  let opened = 0;
  let failed = 0;
  let heard = 0;
  const hear = (data: string): void => {
    if (!data.includes('"event":"turn.started"')) return;
    if (++heard % opened === 0) console.log(JSON.stringify({ lastAt: Date.now() }));
  };
  const open = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, {
        headers: { authorization: `Bearer ${token}` },
      } as never);
      socket.onopen = () =>
        socket.send(JSON.stringify({ id: "1", method: "subscribe", params: { events: ["turn.started"] } }));
      socket.onmessage = ({ data }) => {
        const text = String(data);
        if (!text.startsWith('{"id":"1"')) return hear(text);
        opened++;
        resolve();
      };
      socket.onerror = () => {
        failed++;
        resolve();
      };
    });
  for (let from = 0; from < clients; from += OPEN_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(OPEN_AT_ONCE, clients - from) }, open));
  console.log(JSON.stringify({ opened, failed }));
  await new Promise(() => undefined);
}

export const sockets: Scenario = {
  name: "sockets",
  async measure(scale) {
    const wanted = Math.max(1_000, Math.round(10_000 * scale));
    const figures = await measureSockets(wanted);
    const each = ((figures.rssAfterMb - figures.rssBeforeMb) * 1_024) / figures.opened;
    return [
      { what: "idle WebSocket clients", value: figures.opened, unit: "" },
      { what: "  that could not be opened", value: figures.failed, unit: "", ...atMost(0) },
      { what: "  one event to all of them, until the last has it", value: figures.lastMs, unit: "ms", ...atMost(250) },
      { what: "  memory for each", value: round(each), unit: "KB" },
    ];
  },
};

if (import.meta.main) {
  const [, , url = "", token = "", clients = "0"] = process.argv;
  await beCrowd(url, token, Number(clients));
}
