/** One connection from its first byte to its end: signs in, joins, answers pings, notices silence, and knows what it is called by now. */
import type { Clock } from "pi-gateway/plugin";
import type { IrcSettings } from "../config.ts";
import { formatLine, type Line, parseLine } from "./line.ts";
import { createSigning } from "./login.ts";
import { fold } from "./names.ts";
import { createPace } from "./pace.ts";
import { type LineSocket, openSocket } from "./socket.ts";
import { plainText } from "./text.ts";

export interface Connection {
  readonly nick: string;
  readonly caps: ReadonlySet<string>;
  /** Channels we are in, folded, and why we are not in others. */
  readonly joined: ReadonlySet<string>;
  readonly notJoined: ReadonlyMap<string, string>;
  /** Aborts when it has ended. */
  readonly over: AbortSignal;
  /** At the speed the server allows. Rejects when the signal aborts first; then nothing was written. */
  write(line: string, signal: AbortSignal): Promise<void>;
  /** Hears every line until it is disposed. */
  listen(hear: (line: Line) => void): Disposable;
}

export type Ending = { readonly because: string; readonly refused: boolean };

const SIGN_IN_MS = 30_000;
const LOOK_MS = 15_000;
/** Silence after which we ask, and after which nobody is there. */
const ASK_AFTER_MS = 30_000;
const SILENT_MS = 90_000;
/** Joins that failed, and a nick that was taken, are tried again this often. */
const MEND_MS = 60_000;
const CANNOT_JOIN = ["403", "405", "437", "471", "473", "474", "475", "476", "477"];
const GOODBYE = "QUIT :The gateway is closing";
const MAX_BECAUSE_CHARS = 200;

interface State {
  nick: string;
  heardAt: number;
  readonly joined: Set<string>;
  readonly notJoined: Map<string, string>;
  readonly listeners: Set<(line: Line) => void>;
}

export interface ConnectionEvents {
  /** Signed in. */
  up(connection: Connection): void;
  line(line: Line): void;
  /** Something that health tells about is different. */
  changed(): void;
}

/** Resolves with why it ended. Aborting the signal says goodbye first. */
export async function connectOnce(
  clock: Clock,
  settings: IrcSettings,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<Ending> {
  const { nick, login } = settings;
  const over = new AbortController();
  const state: State = {
    nick,
    heardAt: clock.elapsed(),
    joined: new Set(),
    notJoined: new Map(),
    listeners: new Set(),
  };
  const signing = createSigning(nick, login);
  const ended = Promise.withResolvers<Ending>();
  let isUp = false;
  const finish = (because: string, refused = false): void => {
    ended.resolve({ because: plainText(because).slice(0, MAX_BECAUSE_CHARS), refused });
    over.abort(new Error(because));
  };
  const socket: LineSocket = openSocket(settings, {
    opened: () => signing.begin().forEach((line) => socket.write(line)),
    ended: (because) => finish(because),
    line(text) {
      state.heardAt = clock.elapsed();
      const line = parseLine(text);
      if (!line) return;
      if (line.command === "PING") return socket.write(formatLine("PONG", line.params[0] ?? ""));
      if (line.command === "ERROR") return finish(line.params[0] ?? "the server ended the connection");
      if (isUp) return taken(line);
      const step = signing.take(line);
      if (step.kind === "say") return step.lines.forEach((answer) => socket.write(answer));
      if (step.kind === "refused") return finish(step.because, true);
      isUp = true;
      state.nick = signing.nick;
      events.up(connection);
      void work().catch((error: unknown) => finish(String(error)));
    },
  });
  const taken = (line: Line): void => {
    if (follow(state, line)) events.changed();
    for (const hear of state.listeners) hear(line);
    events.line(line);
  };
  const pace = createPace(clock, settings);
  const connection = connectionOf(state, { caps: signing.caps, over: over.signal }, async (line, until) => {
    await pace.turn(AbortSignal.any([until, over.signal]));
    until.throwIfAborted();
    over.signal.throwIfAborted();
    socket.write(line);
  });
  const work = async (): Promise<void> => {
    if (login?.by === "nickserv") await connection.write(identify(login.account, login.password.reveal()), over.signal);
    for (let mendAt = 0; !over.signal.aborted; await clock.sleep(LOOK_MS, over.signal)) {
      const now = clock.elapsed();
      if (now - state.heardAt >= SILENT_MS) return finish("the server has gone silent");
      if (now - state.heardAt >= ASK_AFTER_MS) socket.write("PING :are-you-there");
      if (now < mendAt) continue;
      mendAt = now + MEND_MS;
      for (const line of mending(state, settings)) await connection.write(line, over.signal);
    }
  };
  const stop = (): void => {
    socket.end(GOODBYE);
    finish("closed");
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  using late = clock.deadline(SIGN_IN_MS, () => undefined);
  late.signal.addEventListener("abort", () => isUp || finish("the server did not let us in within 30 s"));
  try {
    return await ended.promise;
  } finally {
    signal.removeEventListener("abort", stop);
    if (!signal.aborted) socket.destroy();
  }
}

function connectionOf(state: State, fixed: Pick<Connection, "caps" | "over">, write: Connection["write"]): Connection {
  return {
    ...fixed,
    write,
    joined: state.joined,
    notJoined: state.notJoined,
    get nick() {
      return state.nick;
    },
    listen(hear) {
      state.listeners.add(hear);
      return { [Symbol.dispose]: () => void state.listeners.delete(hear) };
    },
  };
}

const identify = (account: string, password: string): string =>
  formatLine("PRIVMSG", "NickServ", `IDENTIFY ${account} ${password}`);

/** What is not as the settings want it. */
function mending(state: State, { nick, channels }: IrcSettings): readonly string[] {
  const joins = channels.filter((name) => !state.joined.has(name)).map((name) => formatLine("JOIN", name));
  return fold(state.nick) === fold(nick) ? joins : [formatLine("NICK", nick), ...joins];
}

/** Keeps track of ourselves. True: something changed. */
function follow(state: State, { command, prefix, params }: Line): boolean {
  const [first = "", second = "", third = ""] = params;
  const mine = prefix !== null && fold(prefix.nick) === fold(state.nick);
  if (CANNOT_JOIN.includes(command)) {
    if (!state.joined.has(fold(second))) state.notJoined.set(fold(second), third);
    return true;
  }
  if (command === "KICK" && fold(second) === fold(state.nick)) {
    state.notJoined.set(fold(first), "we were sent out");
    return state.joined.delete(fold(first));
  }
  if (!mine) return false;
  if (command === "NICK") state.nick = first;
  else if (command === "JOIN") {
    state.notJoined.delete(fold(first));
    state.joined.add(fold(first));
  } else if (command === "PART") state.joined.delete(fold(first));
  else return false;
  return true;
}
