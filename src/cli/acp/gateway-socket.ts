/** The gateway's event socket for as long as an editor is there: opened again by the next question after it was closed. */
import { createGatewayClient, isGatewayRequestError } from "../../client/index.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { ClientEventName } from "../../contracts/events.ts";
import type { WireEvent, WireMethods } from "../../contracts/wire.ts";
import { lazy } from "../../kit/deferred.ts";

type Client = ReturnType<typeof createGatewayClient>;
type Connection = Awaited<ReturnType<Client["connect"]>>;

export interface GatewaySocket extends Disposable {
  /** Throws GatewayError: with the gateway's sentence, or because it is away. */
  ask<M extends keyof WireMethods>(method: M, params: WireMethods[M]["params"]): Promise<WireMethods[M]["result"]>;
  /** The media ids of these images, in the same order. Throws as `ask` does. */
  upload(images: readonly PromptImage[], signal: AbortSignal): Promise<readonly string[]>;
  listen(listener: SocketListener): Disposable;
}

interface PromptImage {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

interface SocketListener {
  event(news: WireEvent): void;
  /** The connection is gone, and with it events that nobody will tell again. */
  lost(): void;
}

/** Where the gateway is now, and what lets the client in. Throws the sentence that a person needs when none runs. */
type Target = () => Promise<{ readonly url: string; readonly token: string }>;

const EVENTS: readonly ClientEventName[] = [
  ...(["turn.started", "turn.joined", "turn.delta", "turn.tool", "turn.ended"] as const),
  ...(["approval", "question"] as const),
];
const AWAY = "The gateway went away. What it had begun goes on when it is back.";

export function createGatewaySocket(target: Target): GatewaySocket {
  const listeners = new Set<SocketListener>();
  const opened = new Set<Connection>();
  let connect = lazy(open);
  async function open(): Promise<Connection> {
    const connection = await createGatewayClient(await target()).connect();
    const { seq } = await connection.call("subscribe", { events: EVENTS }); // from here on nothing is missed
    opened.add(connection);
    void follow(connection, seq);
    return connection;
  }
  /** Never rejects: a loop that ends, however it ends, is a connection that is lost. */
  const follow = async (connection: Connection, seq: number): Promise<void> => {
    try {
      for await (const news of connection.events(EVENTS, seq))
        for (const listener of [...listeners]) listener.event(news);
    } catch {
      // told to whoever listens, right below
    }
    connect = lazy(open);
    connection[Symbol.dispose]();
    opened.delete(connection);
    for (const listener of [...listeners]) listener.lost();
  };
  return {
    ask: (method, params) => told(async () => (await connect()).call(method, params)),
    upload: (images, signal) =>
      told(async () => {
        const client = createGatewayClient(await target());
        const ids: string[] = [];
        for (const [at, { mimeType, data }] of images.entries()) {
          const name = `image-${at + 1}.${mimeType.split("/")[1] ?? "png"}`;
          ids.push((await client.upload(Buffer.from(data, "base64"), { name, signal })).mediaId);
        }
        return ids;
      }),
    listen(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.dispose]() {
      listeners.clear();
      for (const connection of opened) connection[Symbol.dispose]();
    },
  };
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isGatewayRequestError(error)) throw error;
    const say = error.code === "closed" || error.code === "unreachable" ? AWAY : error.message;
    throw new GatewayError("bad_request", `refused: ${error.code}`, { cause: error, say });
  }
}
