/**
 * A Bot API on loopback that behaves like Telegram's, and misbehaves when told to: limits, conflicts, failures, connections that break before
 * or after a call took effect, late answers, repeated and reordered updates. It remembers every call and everything people would see.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Clock, systemClock } from "../../kit/clock.ts";
import { type BotRoom, createBotRoom, type Fields, type MethodResult, type UploadedFile } from "./bot-room.ts";
import { waitForEnd, WHOLE_WAIT_MS } from "../wait-for.ts";

interface ApiCall {
  readonly method: string;
  readonly fields: Fields;
  /** The client's port: another one is another connection. */
  readonly port: number;
  readonly at: number;
}

export type Misbehaviour =
  /** 429: not before so many seconds. */
  | { readonly kind: "limited"; readonly retryAfter: number }
  | { readonly kind: "refused"; readonly code: number; readonly description: string }
  /** A proxy in front of it answers with a page. */
  | { readonly kind: "page"; readonly status: number }
  /** The connection breaks; the call had no effect, or had one. */
  | { readonly kind: "cut_before" }
  | { readonly kind: "cut_after" }
  /** The call takes effect at once, its answer waits for this. */
  | { readonly kind: "late"; readonly until: Promise<unknown> };

export interface FakeBotApi extends AsyncDisposable {
  readonly apiRoot: string;
  readonly calls: readonly ApiCall[];
  /** The room of the bot with this token; made when it is first asked for. */
  bot(token: string): BotRoom;
  /** Waits for the bot until it confirms it. Returns its id. */
  push(token: string, update: Fields): number;
  /** Ids that have not been confirmed. */
  waiting(token: string): readonly number[];
  /** The next polls get these again, whatever was confirmed. */
  repeat(token: string, updateIds: readonly number[]): void;
  /** Sends the waiting updates in another order than they came in. */
  reverse(token: string): void;
  /** The next `times` calls of this method go wrong; "*" is any method but getUpdates. */
  misbehave(method: string, how: Misbehaviour, times?: number): void;
  /** Everything works again; what hangs goes on hanging. */
  behave(): void;
  /** Asked for every call for which nothing is planned; null: no more of that. */
  bewitch(pick: ((method: string) => Misbehaviour | null) | null): void;
  /** Called when a message has been shown, before anybody is told. Null: no more of that. */
  onShown(tell: ((message: number) => void) | null): void;
  /** Called when an update has been confirmed, and is forgotten here. Null: no more of that. */
  onConfirmed(tell: (() => void) | null): void;
  /** Messages that were shown and whose sender was told nothing. */
  readonly untold: ReadonlySet<number>;
  count(method: string): number;
  /** Polls that another poll has ended. */
  readonly conflicts: number;
  connections(): number;
  /** Resolves when the condition holds; looked at after every call and its answer. */
  until(what: string, holds: () => boolean, withinMs?: number): Promise<void>;
}

interface BotState {
  readonly room: BotRoom;
  updates: { readonly id: number; readonly update: Fields }[];
  readonly seen: Map<number, Fields>;
  reversed: boolean;
  /** One more is confirmed. */
  confirmed(): void;
  /** One more poll was ended by another one. */
  conflicted(): void;
  poller: (() => void) | null;
  pushed: (() => void) | null;
}

const FIRST_UPDATE = 5_000;
const MAX_UPDATES = 100;

/** `clock`: by which a poll without news ends. `host`: where it listens. */
export async function startFakeBotApi(clock: Clock = systemClock, host = "127.0.0.1"): Promise<FakeBotApi> {
  const calls: ApiCall[] = [];
  const bots = new Map<string, BotState>();
  const faults = new Map<string, Misbehaviour[]>();
  const watchers = new Set<() => void>();
  const untold = new Set<number>();
  let nextUpdate = FIRST_UPDATE;
  let conflicts = 0;
  let spell: ((method: string) => Misbehaviour | null) | null = null;
  let tellConfirmed: (() => void) | null = null;
  let tellShown: ((message: number) => void) | null = null;

  const look = (): void => {
    for (const watcher of watchers) watcher();
  };
  const stateOf = (token: string): BotState => {
    const known = bots.get(token);
    if (known) return known;
    const id = Number(token.split(":")[0]) || 1;
    const made: BotState = {
      room: createBotRoom(id, `fake_${id}_bot`),
      updates: [],
      seen: new Map(),
      reversed: false,
      poller: null,
      pushed: null,
      confirmed: () => tellConfirmed?.(),
      conflicted: () => void conflicts++,
    };
    bots.set(token, made);
    return made;
  };
  const faultFor = (method: string): Misbehaviour | undefined => {
    const own = faults.get(method)?.shift();
    const planned = own ?? (method === "getUpdates" ? undefined : faults.get("*")?.shift());
    return planned ?? spell?.(method) ?? undefined;
  };

  const server = createServer((request, response) => {
    serve(request, response)
      .catch(() => request.socket.destroy()) // a caller that went away in the middle
      .finally(look);
  });

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent(request.url ?? "");
    const file = /^\/file\/bot([^/]+)\/files\/(.+)$/.exec(path);
    if (file) {
      const bytes = stateOf(file[1] ?? "").room.files.get(file[2] ?? "");
      const fault = faultFor("download");
      if (fault?.kind === "late") await fault.until;
      if (fault?.kind === "page") return void response.writeHead(fault.status).end("not now");
      if (fault && fault.kind !== "late") return void request.socket.destroy();
      response.writeHead(bytes ? 200 : 404).end(bytes);
      return;
    }
    const [, token = "", method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    const { fields, files } = await readFields(request);
    calls.push({ method, fields, port: request.socket.remotePort ?? 0, at: clock.now() });
    look();
    const fault = faultFor(method);
    if (fault?.kind === "cut_before") return void request.socket.destroy();
    if (fault && fault.kind !== "cut_after" && fault.kind !== "late") return answerFault(response, fault);
    const result = await resultOf(stateOf(token), { method, fields, files, clock }, request);
    const shown = shownBy(method, result);
    if (shown !== null) tellShown?.(shown);
    look();
    if (shown !== null && fault?.kind === "cut_after") untold.add(shown);
    if (fault?.kind === "cut_after") return void request.socket.destroy();
    if (fault?.kind === "late") await fault.until;
    answer(response, result);
  };

  const sockets = new Set<unknown>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  return {
    apiRoot: `http://${host}:${port}`,
    calls,
    bot: (token) => stateOf(token).room,
    push(token, update) {
      const state = stateOf(token);
      const id = nextUpdate++;
      const whole = { update_id: id, ...update };
      state.updates.push({ id, update: whole });
      state.seen.set(id, whole);
      state.pushed?.();
      return id;
    },
    waiting: (token) => stateOf(token).updates.map(({ id }) => id),
    repeat(token, updateIds) {
      const state = stateOf(token);
      for (const id of updateIds) {
        const update = state.seen.get(id);
        if (update) state.updates.push({ id, update });
      }
      state.pushed?.();
    },
    reverse(token) {
      stateOf(token).reversed = true;
    },
    misbehave(method, how, times = 1) {
      const planned = faults.get(method) ?? [];
      for (let n = 0; n < times; n++) planned.push(how);
      faults.set(method, planned);
    },
    behave: () => faults.clear(),
    bewitch(pick) {
      spell = pick;
    },
    onShown(tell) {
      tellShown = tell;
    },
    onConfirmed(tell) {
      tellConfirmed = tell;
    },
    untold,
    connections: () => sockets.size,
    count: (method) => calls.filter((call) => call.method === method).length,
    get conflicts() {
      return conflicts;
    },
    until(what, holds, withinMs = WHOLE_WAIT_MS) {
      const happened = new Promise<void>((resolve) => {
        const watcher = (): void => {
          if (!holds()) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
        watcher();
      });
      return waitForEnd(what, happened, { withinMs });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Asked {
  readonly method: string;
  readonly fields: Fields;
  readonly files: readonly UploadedFile[];
  readonly clock: Clock;
}

async function resultOf(state: BotState, asked: Asked, request: IncomingMessage): Promise<MethodResult> {
  if (asked.method === "getUpdates") return poll(state, asked, request);
  return (
    state.room.run(asked.method, asked.fields, asked.files) ?? {
      ok: false,
      error_code: 404,
      description: "Not Found: method not found",
    }
  );
}

/** The message a call has made; null: it made none. */
function shownBy(method: string, result: MethodResult): number | null {
  if (!method.startsWith("send") || !result.ok) return null;
  const { message_id: id } = Object(result.result) as { message_id?: number };
  return id ?? null;
}

/** Waits for something to arrive; a second poll ends the first one, as it does at Telegram. */
async function poll(state: BotState, { fields, clock }: Asked, request: IncomingMessage): Promise<MethodResult> {
  if (state.room.webhook)
    return { ok: false, error_code: 409, description: "Conflict: can't use getUpdates method while webhook is active" };
  const offset = fields.offset === undefined ? null : Number(fields.offset);
  const before = state.updates.length;
  if (offset !== null) state.updates = state.updates.filter(({ id }) => id >= offset);
  for (let gone = before - state.updates.length; gone > 0; gone--) state.confirmed();
  state.poller?.();
  if (state.updates.length === 0 && Number(fields.timeout ?? 0) > 0) {
    const over = new AbortController();
    const ended = await new Promise<"pushed" | "replaced" | "gone" | "late">((resolve) => {
      state.pushed = () => resolve("pushed");
      state.poller = () => resolve("replaced");
      request.socket.once("close", () => resolve("gone"));
      clock.sleep(Number(fields.timeout) * 1_000, over.signal).then(
        () => resolve("late"),
        () => undefined, // something else came first
      );
    });
    over.abort();
    if (ended === "replaced") {
      state.conflicted();
      return { ok: false, error_code: 409, description: "Conflict: terminated by other getUpdates request" };
    }
    state.pushed = null;
    state.poller = null;
  }
  const batch = state.updates.slice(0, Math.min(Number(fields.limit ?? MAX_UPDATES), MAX_UPDATES));
  if (state.reversed) batch.reverse();
  return { ok: true, result: batch.map(({ update }) => update) };
}

function answerFault(response: ServerResponse, fault: Misbehaviour): void {
  if (fault.kind === "page") {
    response.writeHead(fault.status, { "content-type": "text/html" }).end("<html>try later</html>");
    return;
  }
  if (fault.kind === "limited") {
    const { retryAfter } = fault;
    const description = `Too Many Requests: retry after ${retryAfter}`;
    return answer(response, { ok: false, error_code: 429, description, parameters: { retry_after: retryAfter } });
  }
  if (fault.kind === "refused") answer(response, { ok: false, error_code: fault.code, description: fault.description });
}

function answer(response: ServerResponse, result: MethodResult): void {
  const status = result.ok ? 200 : result.error_code;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(result));
}

async function readFields(request: IncomingMessage): Promise<{ fields: Fields; files: readonly UploadedFile[] }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/"))
    return { fields: body.length === 0 ? {} : JSON.parse(body.toString()), files: [] };
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const fields: Record<string, unknown> = {};
  const files: UploadedFile[] = [];
  for (const [field, value] of form.entries()) {
    if (typeof value === "string") fields[field] = value;
    else files.push({ field, name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) });
  }
  return { fields, files };
}
