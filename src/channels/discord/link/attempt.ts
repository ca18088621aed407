/**
 * One connection to Discord's gateway, from opening to its end. The library beats the heart and keeps the count; whether and when there is a
 * next connection is decided elsewhere, so one that has ended is never allowed to come back by itself.
 */
import { WebSocketShard, WebSocketShardEvents, type SessionInfo } from "@discordjs/ws";
import type { APIGatewayBotInfo, GatewayDispatchPayload, GatewayReadyDispatchData } from "discord-api-types/v10";
import type { Clock } from "../../../kit/clock.ts";
import { deferred, orAborted } from "../../../kit/deferred.ts";
import type { LinkEnd } from "./rules.ts";

interface AttemptDeps {
  readonly clock: Clock;
  onReady(data: GatewayReadyDispatchData): void;
  onResumed(): void;
  onDispatch(payload: GatewayDispatchPayload): void;
  /** A sign of life: a heartbeat was answered. */
  onBeat(): void;
  /** What was told could not be dealt with. The connection goes on: one odd message must not end it. */
  onTrouble(error: unknown): void;
}

interface AttemptOptions {
  readonly token: string;
  readonly intents: number;
  readonly info: APIGatewayBotInfo;
  /** To go on with; null: a new session. */
  readonly session: SessionInfo | null;
}

export interface Attempt extends AsyncDisposable {
  readonly ended: Promise<LinkEnd>;
  /** As far as it came, for the next connection. */
  session(): SessionInfo | null;
  /** It counts as silent from now on. */
  giveUp(): void;
}

/** From opening until Discord says "ready" or "resumed". */
const READY_MS = 30_000;
const CLOSE_MS = 2_000;
/** Closing with this code leaves the session alive; with the usual one Discord ends it. */
const KEEPS_SESSION = 4_200;
const NORMAL = 1_000;
const CONNECTING = 0;
const RESUME_REFUSED = "Invalid session; will attempt to resume: true";
const UNKNOWN_ERROR = 4_000;

interface AttemptNow {
  known: SessionInfo | null;
  wasUp: boolean;
  retired: boolean;
}

export function openAttempt(deps: AttemptDeps, { token, intents, info, session }: AttemptOptions): Attempt {
  const ended = deferred<LinkEnd>();
  const now: AttemptNow = { known: session, wasUp: false, retired: false };
  const about = () => ({ wasUp: now.wasUp, resuming: session !== null });
  const shard = new WebSocketShard(
    {
      options: shardOptions(token, intents, info),
      // a connection that is over waits here for ever instead of coming back
      retrieveSessionInfo: () => (now.retired ? new Promise<never>(() => undefined) : now.known),
      updateSessionInfo(_id, next) {
        if (!now.retired && next) now.known = next;
      },
      waitForIdentify: () => Promise.resolve(),
    },
    0,
  );
  const readyLimit = deps.clock.deadline(READY_MS, () => new Error("Discord did not get ready"));
  const end = (how: LinkEnd): void => {
    now.retired = true;
    readyLimit[Symbol.dispose]();
    ended.resolve(how);
  };
  const giveUp = () => end({ kind: "silent", ...about() });
  readyLimit.signal.addEventListener("abort", giveUp, { once: true });
  const up = (): void => {
    now.wasUp = true;
    readyLimit[Symbol.dispose]();
  };
  listen(deps, { shard, now, up, onClose: (code) => end({ kind: "closed", code, ...about() }) });
  void shard.connect().catch(() => undefined); // only when its events are taken from it; the end is told above
  return {
    ended: ended.promise,
    session: () => now.known,
    giveUp,
    async [Symbol.asyncDispose]() {
      const code = now.retired ? KEEPS_SESSION : NORMAL;
      giveUp();
      await closeSocket(deps, shard, code);
    },
  };
}

interface Listening {
  readonly shard: WebSocketShard;
  readonly now: AttemptNow;
  up(): void;
  onClose(code: number): void;
}

function listen(deps: AttemptDeps, { shard, now, up, onClose }: Listening): void {
  const { Ready, Resumed, Dispatch, HeartbeatComplete, Closed, Debug, Error: Failed } = WebSocketShardEvents;
  const whileAlive = (run: () => void): void => {
    if (now.retired) return;
    try {
      run();
    } catch (error) {
      deps.onTrouble(error);
    }
  };
  shard.on(Ready, (data) => {
    whileAlive(() => {
      up();
      deps.onReady(data);
    });
  });
  shard.on(Resumed, () => {
    whileAlive(() => {
      up();
      deps.onResumed();
    });
  });
  shard.on(Dispatch, (payload) => whileAlive(() => deps.onDispatch(payload)));
  shard.on(HeartbeatComplete, () => whileAlive(() => deps.onBeat()));
  shard.on(Closed, (code) => whileAlive(() => onClose(code)));
  // the library would ask again at once, for ever, and says so nowhere else
  shard.on(Debug, (words) => {
    if (words.startsWith(RESUME_REFUSED)) whileAlive(() => onClose(UNKNOWN_ERROR));
  });
  shard.on(Failed, () => undefined); // the code of the close that follows says the same
}

function shardOptions(token: string, intents: number, gatewayInformation: APIGatewayBotInfo) {
  const words = { browser: "pi-gateway", device: "pi-gateway", os: process.platform };
  return {
    token,
    intents,
    gatewayInformation,
    shardCount: 1,
    version: "10",
    encoding: "json" as never,
    compression: null,
    useIdentifyCompression: false,
    identifyProperties: words,
    initialPresence: null,
    largeThreshold: null,
    handshakeTimeout: READY_MS,
    helloTimeout: null,
    readyTimeout: null,
  };
}

/** Asks for the close, waits a little for the other side, and then leaves without it. */
async function closeSocket({ clock }: AttemptDeps, shard: WebSocketShard, code: number): Promise<void> {
  const socket = shard["connection"]; // the library closes only what is open, and waits for an answer without a limit
  if (socket?.readyState === CONNECTING) socket.close();
  using limit = clock.deadline(CLOSE_MS, () => new Error("the close was not answered"));
  const closing = Promise.resolve(shard.destroy({ code, reason: "closed by the gateway" }));
  await orAborted(closing, limit.signal).catch(() => undefined); // then without an answer
  socket?.terminate();
}
