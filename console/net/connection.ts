/** The web console's line to its gateway: requests answered by id, numbered events without gap or repeat, and patience. Only ever dials its own origin. */
import type { ClientEventName } from "../../src/contracts/events.ts";
import type { WireError, WireEvent, WireMethods } from "../../src/contracts/wire.ts";
import { parseFrame } from "./frames.ts";

const EVENTS: readonly ClientEventName[] = [
  "message",
  "turn.started",
  "turn.joined",
  "turn.delta",
  "turn.thought",
  "turn.tool",
  "turn.waiting",
  "turn.ended",
  "approval",
  "cron.run",
  "question",
  "status",
];
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 15_000;
const PING_EVERY_MS = 25_000;
/** An open socket that does not answer this long is taken for dead, and another is opened. */
const ANSWER_WITHIN_MS = 20_000;
const MAX_PENDING = 500;
/** The gateway closes the line on frames above 1 MiB; such a request would break it again and again. */
const MAX_FRAME_BYTES = 1_000_000;
/** Asking twice for these could do something the person did not ask for twice. */
const ASK_ONCE: ReadonlySet<keyof WireMethods> = new Set([
  "chat.abort",
  "sessions.reset",
  "approvals.decide",
  "cron.add",
  "cron.run",
  "questions.answer",
]);

export type LineState = "connecting" | "open" | "waiting" | "signed-out";

/** The part of WebSocket that is used, so that tests can play the other end. */
export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
}

export interface ConnectionDeps {
  dial(): Socket;
  /** Why could the socket not be opened? Asked over HTTP, since a socket does not say. */
  signedIn(): Promise<boolean>;
  later(ms: number, run: () => void): () => void;
  random(): number;
  onState(state: LineState): void;
  onEvent(event: WireEvent): void;
  /** The events between were lost: read everything that is shown again. */
  onResync(): void;
  /** The line is open and follows the events; called again after each reconnect. */
  onOpen(): void;
}

export interface Connection {
  request<M extends keyof WireMethods>(method: M, params: WireMethods[M]["params"]): Promise<WireMethods[M]["result"]>;
  /** Try at once instead of waiting: the network is back, or somebody looks at the web console again. */
  nudge(): void;
  close(): void;
}

/** The gateway answered, and the answer was no. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly error: WireError;
  constructor(error: WireError) {
    super(error.message);
    this.error = error;
  }
}

interface Pending {
  readonly frame: string;
  readonly method: keyof WireMethods;
  sent: boolean;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface Line {
  readonly deps: ConnectionDeps;
  readonly pending: Map<string, Pending>;
  socket: Socket | null;
  state: LineState;
  following: boolean;
  lastSeq: number | null;
  attempts: number;
  nextId: number;
  cancelTimers: (() => void)[];
}

export function openConnection(deps: ConnectionDeps): Connection {
  const line: Line = {
    deps,
    pending: new Map(),
    socket: null,
    state: "connecting",
    following: false,
    lastSeq: null,
    attempts: 0,
    nextId: 1,
    cancelTimers: [],
  };
  dial(line);
  return {
    request: (method, params) => request(line, method, params) as Promise<never>,
    nudge() {
      if (line.state === "waiting") dial(line);
    },
    close() {
      setState(line, "signed-out");
      drop(line);
      for (const id of [...line.pending.keys()]) fail(line, id, "The web console is no longer connected.");
    },
  };
}

function request(line: Line, method: keyof WireMethods, params: unknown): Promise<unknown> {
  if (line.pending.size >= MAX_PENDING) return Promise.reject(new Error("Too much is waiting for the connection."));
  if (ASK_ONCE.has(method) && !line.following) return Promise.reject(new Error("Not connected right now."));
  const id = String(line.nextId++);
  const frame = JSON.stringify({ id, method, params });
  if (new TextEncoder().encode(frame).length > MAX_FRAME_BYTES) {
    return Promise.reject(new Error("It is longer than the gateway accepts. Shorten it, or send it in parts."));
  }
  return new Promise((resolve, reject) => {
    line.pending.set(id, { frame, method, sent: false, resolve, reject });
    if (line.following) transmit(line, id);
  });
}

function transmit(line: Line, id: string): void {
  const pending = line.pending.get(id);
  const socket = line.socket;
  if (!pending || !socket) return;
  pending.sent = true;
  socket.send(pending.frame);
  after(line, ANSWER_WITHIN_MS, () => {
    if (line.pending.has(id) && line.socket === socket) lost(line);
  });
}

function dial(line: Line): void {
  drop(line);
  setState(line, "connecting");
  const socket = line.deps.dial();
  let opened = false;
  line.socket = socket;
  socket.onopen = () => {
    opened = true;
    follow(line, socket);
  };
  socket.onmessage = (event) => receive(line, event.data);
  socket.onclose = () => {
    if (line.socket !== socket) return;
    if (opened) return lost(line);
    void refused(line);
  };
  after(line, ANSWER_WITHIN_MS, () => {
    if (line.socket === socket && !line.following) lost(line);
  });
}

/** Events first, then everything that waits: an answer can then never be older than what is followed. */
function follow(line: Line, socket: Socket): void {
  const id = `s${line.nextId++}`;
  const since = line.lastSeq;
  const params = since === null ? { events: EVENTS } : { events: EVENTS, sinceSeq: since };
  line.pending.set(id, {
    frame: "",
    method: "subscribe",
    sent: true,
    resolve(result) {
      // With `sinceSeq` the missed events carry their own numbers; taking this one would hide them.
      if (since === null) line.lastSeq = Math.max(line.lastSeq ?? 0, (result as { seq: number }).seq);
      following(line);
    },
    reject: () => lost(line),
  });
  socket.send(JSON.stringify({ id, method: "subscribe", params }));
}

function following(line: Line): void {
  line.following = true;
  line.attempts = 0;
  setState(line, "open");
  for (const [id, pending] of line.pending) if (!pending.sent) transmit(line, id);
  ping(line);
  line.deps.onOpen();
}

/** A line that is quiet may be dead: a question now and then finds out. */
function ping(line: Line): void {
  after(line, PING_EVERY_MS, () => {
    request(line, "status", {}).catch(() => undefined); // its loss is noticed by the answer's own deadline
    ping(line);
  });
}

function receive(line: Line, data: unknown): void {
  const frame = parseFrame(data);
  if (!frame) return;
  if (frame.kind === "answer") {
    const pending = line.pending.get(frame.id);
    if (!pending) return;
    line.pending.delete(frame.id);
    if (frame.ok) return pending.resolve(frame.result);
    return pending.reject(new Refusal(frame.error));
  }
  const { event } = frame;
  if (event.event === "resync") {
    line.lastSeq = event.seq;
    return line.deps.onResync();
  }
  if (line.lastSeq !== null && event.seq <= line.lastSeq) return;
  line.lastSeq = event.seq;
  line.deps.onEvent(event);
}

async function refused(line: Line): Promise<void> {
  const socket = line.socket;
  const signedIn = await line.deps.signedIn();
  if (line.socket !== socket) return;
  if (signedIn) return lost(line);
  drop(line);
  setState(line, "signed-out");
}

function lost(line: Line): void {
  drop(line);
  setState(line, "waiting");
  const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** line.attempts++);
  // Half fixed, half chance: many pages do not come back in the same instant after a restart.
  after(line, ceiling / 2 + (ceiling / 2) * line.deps.random(), () => dial(line));
}

/** Lets go of the socket. What may be asked again waits for the next one; the rest is told. */
function drop(line: Line): void {
  for (const cancel of line.cancelTimers.splice(0)) cancel();
  const socket = line.socket;
  line.socket = null;
  line.following = false;
  if (socket) {
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }
  for (const [id, pending] of line.pending) {
    if (pending.method === "subscribe") line.pending.delete(id);
    else if (ASK_ONCE.has(pending.method)) fail(line, id, "The connection was lost before the gateway answered.");
    else pending.sent = false;
  }
}

function fail(line: Line, id: string, because: string): void {
  const pending = line.pending.get(id);
  line.pending.delete(id);
  pending?.reject(new Error(because));
}

function setState(line: Line, state: LineState): void {
  if (line.state === "signed-out" && state === "signed-out") return;
  line.state = state;
  line.deps.onState(state);
}

function after(line: Line, ms: number, run: () => void): void {
  line.cancelTimers.push(line.deps.later(ms, run));
}
