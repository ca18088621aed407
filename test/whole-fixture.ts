/** What the tests of a whole gateway share: reading answers the way a script would, and waiting for facts with a deadline. Starts nothing. */
import { FACTS, textOf, wordsOf } from "../src/testing/worlds/model-words.ts";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TranscriptItem } from "../src/contracts/chat.ts";
import type { GatewayStatus, WireEvent, WireResponse } from "../src/contracts/wire.ts";
import { deferred, type Deferred } from "../src/kit/deferred.ts";
import type { FakeProvider, ProviderRequest } from "../src/testing/fake-provider.ts";
import { onFrames } from "../src/testing/http/frames.ts";
import { waitFor, waitForEnd, WHOLE_WAIT_MS } from "../src/testing/wait-for.ts";
import {
  GatewayDidNotStart,
  type GatewayProcess,
  type GatewayProcessOptions,
  startGatewayProcess,
} from "../src/testing/whole/gateway-process.ts";

export { FACTS, textOf, wordsOf };

/** For `setDefaultTimeout`: a start of pi takes a second, on a busy machine several. */
export const WHOLE_TEST_MS = 120_000;
/** Shorter than the limit of a test, so that a test says what it waited for. */
const ANSWER_MS = 90_000;

/** A process starts when somebody needs it: a spare would cost a test one more start, and most never use it. */
export const SMALL_POOL = { min: 0, max: 2 } as const;
/** People of the same role share a process. For tests with several people that do not ask whose a process is: each would need a start. */
export const SHARED_POOL = { min: 0, max: 4, reuse: "profile" } as const;

/** The lines the documentation gives for an endpoint of one's own. */
export function endpoint(provider: FakeProvider, model = "fake-1", apiKey = "a-key-for-tests-5521") {
  return {
    agent: { model: `fake/${model}`, pool: SMALL_POOL },
    models: {
      providers: { fake: { baseUrl: provider.baseUrl, apiKey, models: [{ id: "fake-1" }, { id: "fake-2" }] } },
    },
  };
}

/** `waitFor` with the patience that a start of pi needs. */
export function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  fits: (seen: T) => boolean,
  withinMs = WHOLE_WAIT_MS,
): Promise<T> {
  return waitFor(what, look, fits, { withinMs });
}

export async function startFails(options: GatewayProcessOptions): Promise<GatewayDidNotStart> {
  try {
    await using started = await startGatewayProcess(options);
    throw new Error(`the gateway started on ${started.url}`);
  } catch (error) {
    if (error instanceof GatewayDidNotStart) return error;
    throw error;
  }
}

/** What a start that failed said to a person: with --json it is one object per line. */
export function sentenceOf(failed: GatewayDidNotStart): string {
  const last = failed.said.trim().split("\n").at(-1) ?? "";
  return (JSON.parse(last) as { message: string }).message;
}

export function keyOf(session: string, agent = "default"): string {
  return `agent:${agent}:api:dm:${session}`;
}

export async function transcript(
  gateway: GatewayProcess,
  session: string,
  agent?: string,
): Promise<readonly TranscriptItem[]> {
  const path = `/api/sessions/${encodeURIComponent(keyOf(session, agent))}/transcript?limit=200`;
  const items: TranscriptItem[] = [];
  for (let more = ""; ;) {
    const response = await gateway.fetch(`${path}${more}`);
    if (response.status === 404) return [];
    const page = (await response.json()) as { items: TranscriptItem[]; next?: string };
    items.unshift(...page.items); // each page is older than the one before
    if (page.next === undefined) return items;
    more = `&cursor=${encodeURIComponent(page.next)}`;
  }
}

export async function statusOf(gateway: GatewayProcess): Promise<GatewayStatus> {
  return (await (await gateway.fetch("/api/status")).json()) as GatewayStatus;
}

/** Resolves when an agent process rests, so that a test measures turns and not starts. */
export async function agentReady(gateway: GatewayProcess): Promise<void> {
  await eventually(
    "an idle agent",
    () => statusOf(gateway),
    ({ pool }) => pool.idle > 0,
  );
}

export function post(gateway: GatewayProcess, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return gateway.fetch("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

export async function problemOf(response: Response): Promise<{ status: number; code: string; message: string }> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

export interface StreamedEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One server-sent event after the other, as they arrive. */
export async function* streamed(response: Response): AsyncGenerator<StreamedEvent, void, void> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of response.body ?? []) {
    held += decoder.decode(chunk, { stream: true });
    const blocks = held.split("\n\n");
    held = blocks.pop() ?? "";
    for (const block of blocks) {
      const [event, data] = block.split("\n");
      if (event?.startsWith("event: ")) yield { event: event.slice(7), data: JSON.parse(data?.slice(6) ?? "null") };
    }
  }
}

/** The words of the newest message from a person in a request to the model. */
export function asked(request: ProviderRequest): string {
  return wordsOf(request.messages.findLast(({ role }) => role === "user")?.content);
}

/** The same as the model reads it, with what the gateway says before the words. */
export function told(request: ProviderRequest): string {
  return textOf(request.messages.findLast(({ role }) => role === "user")?.content);
}

/** The instructions in a request to the model. */
export function instructions(request: ProviderRequest | undefined): string {
  return textOf(request?.messages.find(({ role }) => role === "system" || role === "developer")?.content);
}

export function agentPids(home: string): readonly number[] {
  const folder = join(home, "run", "agents");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => Number.parseInt(name, 10));
}

/** A process that has ended but whose end nobody has asked about yet does not run any more. */
export function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false; // there is no such process
  }
}

export interface RawSocket {
  readonly events: readonly WireEvent[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  request(method: string, params: unknown): Promise<unknown>;
  until(what: string, fits: (events: readonly WireEvent[]) => boolean): Promise<void>;
  close(): void;
}

const ALL_EVENTS = ["message", "turn.started", "turn.joined", "turn.delta", "turn.tool", "turn.ended"];

/** A socket that keeps every event as it came; nothing is done about gaps. `sinceSeq` as in `subscribe`; null subscribes to nothing. */
export async function openSocket(
  { url, token }: { readonly url: string; readonly token: string },
  sinceSeq: number | undefined | null = undefined,
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${token}` },
): Promise<RawSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers } as never);
  const events: WireEvent[] = [];
  const answers = new Map<string, Deferred<unknown>>();
  const opened = deferred<void>();
  const closed = deferred<{ code: number; reason: string }>();
  let counter = 0;
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error("the socket did not open"));
  const closedBefore = async (what: string): Promise<never> => {
    const { code, reason } = await closed.promise;
    throw new Error(`the socket was closed before ${what}: ${code} ${reason}`);
  };
  onFrames(socket, {
    frame(data) {
      const frame = JSON.parse(String(data)) as WireEvent | WireResponse;
      if (!("id" in frame)) return void events.push(frame);
      if (frame.ok) answers.get(frame.id)?.resolve(frame.result);
      else answers.get(frame.id)?.reject(new Error(`${frame.error.code}: ${frame.error.message}`));
    },
    closed: (code, reason) => closed.resolve({ code, reason }),
  });
  await waitForEnd("the socket to open", opened.promise, { withinMs: ANSWER_MS });
  const request = (method: string, params: unknown): Promise<unknown> => {
    const id = String(++counter);
    const answer = deferred<unknown>();
    answers.set(id, answer);
    socket.send(JSON.stringify({ id, method, params }));
    const what = `an answer to ${method}`;
    return waitForEnd(what, Promise.race([answer.promise, closedBefore(what)]), { withinMs: ANSWER_MS });
  };
  if (sinceSeq !== null)
    await request("subscribe", { events: ALL_EVENTS, ...(sinceSeq === undefined ? {} : { sinceSeq }) });
  return {
    events,
    closed: closed.promise,
    request,
    until: async (what, fits) => void (await eventually(what, () => events, fits)),
    close: () => socket.close(),
  };
}
