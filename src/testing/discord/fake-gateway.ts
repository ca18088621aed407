/** The gateway of a fake Discord: hello, heartbeats, identify, resume with replay, invalid sessions, dropped sockets, silence. */
import type { ServerWebSocket } from "bun";
import { BOT, BOT_TOKEN, PLACES } from "./fake-people.ts";
import type { FakeState } from "./fake-state.ts";

export interface FakeGateway extends AsyncDisposable {
  readonly url: string;
  readonly identifies: number;
  /** What clients said when they wanted to go on where they were. */
  readonly resumes: readonly { readonly session: string; readonly seq: number }[];
  readonly heartbeats: number;
  /** Codes of the connections that were closed, in order. */
  readonly closeCodes: readonly number[];
  connections(): number;
  /** Tells whoever is connected, and remembers it for those who come back. `copies`: more than once, under one number. */
  dispatch(event: string, data: unknown, copies?: number): void;
  /** Something is lost on the way: remembered for a resume, told to nobody. */
  keepBack(event: string, data: unknown): void;
  drop(code: number): void;
  /** Asks everybody to come back. */
  askReconnect(): void;
  /** Sign-ins that are left today, as whoever asks for the address is told. */
  signInsLeft: number;
  /** Sessions are forgotten: a resume is answered with "invalid". */
  forgetSessions(): void;
  /** The next resumes are answered with "invalid, try again", however often. */
  refuseResumes(count: number): void;
  /** Resumes are not answered for now. */
  holdResumes(): void;
  /** Tokens are refused from now on, or taken again. */
  refuseTokens(refused: boolean): void;
  /** Sockets stay open and say nothing. */
  beSilent(silent: boolean): void;
  silent(): boolean;
}

type Socket = ServerWebSocket<{ session: string | null }>;

const OP = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalid: 9, hello: 10, ack: 11 } as const;
const AUTH_FAILED = 4004;
const GUILD_TEXT = 0;
const PUBLIC_THREAD = 11;

interface GatewayMemory {
  seq: number;
  identifies: number;
  heartbeats: number;
  refusals: number;
  holdsResumes: boolean;
  silent: boolean;
  refused: boolean;
  session: number;
  readonly sessions: Set<string>;
  readonly resumes: { readonly session: string; readonly seq: number }[];
  readonly told: { readonly seq: number; readonly frame: string }[];
  readonly sockets: Set<Socket>;
  readonly closeCodes: number[];
}

export function startFakeGateway(state: FakeState, heartbeatMs: number): FakeGateway {
  const memory: GatewayMemory = {
    seq: 0,
    identifies: 0,
    heartbeats: 0,
    refusals: 0,
    holdsResumes: false,
    silent: false,
    refused: false,
    session: 0,
    sessions: new Set(),
    resumes: [],
    told: [],
    sockets: new Set(),
    closeCodes: [],
  };
  const server = Bun.serve<{ session: string | null }>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, self) =>
      self.upgrade(request, { data: { session: null } }) ? undefined : new Response("no", { status: 400 }),
    websocket: {
      open(socket) {
        memory.sockets.add(socket);
        say(memory, socket, { op: OP.hello, d: { heartbeat_interval: heartbeatMs } });
      },
      message(socket, text): void {
        hear(memory, state, { socket, text: String(text), url });
      },
      close(socket, code) {
        memory.sockets.delete(socket);
        memory.closeCodes.push(code);
      },
    },
  });
  const url: string = `ws://127.0.0.1:${server.port}`;
  return {
    url,
    get identifies() {
      return memory.identifies;
    },
    get heartbeats() {
      return memory.heartbeats;
    },
    resumes: memory.resumes,
    closeCodes: memory.closeCodes,
    signInsLeft: 999,
    connections: () => memory.sockets.size,
    dispatch: (event, data, copies = 1) => tell(memory, remember(memory, event, data), copies),
    keepBack: (event, data) => void remember(memory, event, data),
    ...troubles(memory),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

type Troubles =
  "drop" | "askReconnect" | "forgetSessions" | "refuseResumes" | "holdResumes" | "refuseTokens" | "beSilent" | "silent";

function troubles(memory: GatewayMemory): Pick<FakeGateway, Troubles> {
  return {
    drop(code) {
      for (const socket of memory.sockets) socket.close(code, "dropped");
    },
    askReconnect() {
      for (const socket of memory.sockets) say(memory, socket, { op: OP.reconnect, d: null });
    },
    forgetSessions: () => memory.sessions.clear(),
    refuseResumes(count) {
      memory.refusals = count;
    },
    holdResumes() {
      memory.holdsResumes = true;
    },
    refuseTokens(refused) {
      memory.refused = refused;
    },
    beSilent(silent) {
      memory.silent = silent;
    },
    silent: () => memory.silent,
  };
}

function say(memory: GatewayMemory, socket: Socket, frame: unknown): void {
  if (!memory.silent) socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
}

function remember(memory: GatewayMemory, event: string, data: unknown): string {
  const seq = ++memory.seq;
  const frame = JSON.stringify({ op: OP.dispatch, t: event, s: seq, d: data });
  memory.told.push({ seq, frame });
  return frame;
}

function tell(memory: GatewayMemory, frame: string, copies: number): void {
  for (const socket of memory.sockets) {
    if (socket.data.session === null) continue;
    for (let copy = 0; copy < copies; copy++) say(memory, socket, frame);
  }
}

interface Heard {
  readonly socket: Socket;
  readonly text: string;
  readonly url: string;
}

function hear(memory: GatewayMemory, state: FakeState, { socket, text, url }: Heard): void {
  const { op, d } = JSON.parse(text) as { op: number; d: Record<string, unknown> };
  if (memory.silent) return;
  if (op === OP.heartbeat) {
    memory.heartbeats++;
    return say(memory, socket, { op: OP.ack });
  }
  if (op !== OP.identify && op !== OP.resume) return;
  if (memory.refused || d["token"] !== BOT_TOKEN) return socket.close(AUTH_FAILED, "Authentication failed");
  if (op === OP.resume) return resume(memory, socket, { session: String(d["session_id"]), seq: Number(d["seq"]) });
  memory.identifies++;
  const session = `session-${++memory.session}`;
  memory.sessions.add(session);
  socket.data.session = session;
  const seq = ++memory.seq;
  say(memory, socket, { op: OP.dispatch, t: "READY", s: seq, d: readyOf(session, url) });
  say(memory, socket, { op: OP.dispatch, t: "GUILD_CREATE", s: ++memory.seq, d: guildOf(state) });
}

function resume(
  memory: GatewayMemory,
  socket: Socket,
  asked: { readonly session: string; readonly seq: number },
): void {
  memory.resumes.push(asked);
  if (memory.holdsResumes) return;
  if (memory.refusals > 0) {
    memory.refusals--;
    return say(memory, socket, { op: OP.invalid, d: true });
  }
  if (!memory.sessions.has(asked.session)) return say(memory, socket, { op: OP.invalid, d: false });
  socket.data.session = asked.session;
  for (const { seq, frame } of memory.told) if (seq > asked.seq) say(memory, socket, frame);
  say(memory, socket, { op: OP.dispatch, t: "RESUMED", s: ++memory.seq, d: {} });
}

function readyOf(session: string, url: string) {
  return {
    v: 10,
    user: { id: BOT.id, username: BOT.name, discriminator: "0", bot: true },
    guilds: [{ id: PLACES.guild, unavailable: true }],
    session_id: session,
    resume_gateway_url: url,
    application: { id: BOT.applicationId, flags: 0 },
  };
}

function guildOf(state: FakeState) {
  const all = [...state.channels.values()].filter(({ guild }) => guild === PLACES.guild);
  return {
    id: PLACES.guild,
    name: "The house",
    channels: all.filter(({ type }) => type === "room").map(({ id }) => ({ id, type: GUILD_TEXT, name: "room" })),
    threads: all
      .filter(({ type }) => type === "thread")
      .map(({ id, parent }) => ({ id, type: PUBLIC_THREAD, parent_id: parent, name: "thread" })),
  };
}
