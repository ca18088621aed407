/**
 * A wire between a gateway and Postgres that can be cut at the worst moment: before a commit reaches the server, or before its answer comes
 * back. It can also go silent, as a whole or for the connections by which gateways speak to each other.
 */
import type { Socket, TCPSocketListener } from "bun";

export type Cut = "before the commit" | "after the commit";
/** `all`: every connection. `letters`: those by which gateways speak to each other, also new ones. */
type Silence = "all" | "letters";

interface CuttingProxy extends Disposable {
  /** The database by way of the proxy. */
  readonly url: string;
  /** Cuts the connection at its next commit, once. Null: does not cut it after all. */
  cutNext(cut: Cut | null): void;
  /** Cuts everything now, and lets nobody through until it is mended. */
  cutAll(): void;
  /** From now on nothing arrives on either side, and nobody is told: a network that is gone. Mended, connections of before are cut. */
  silence(which?: Silence): void;
  /** Connections that listen for notifications are silent from now on, for good; new ones are not. */
  deafen(): void;
  mend(): void;
  readonly cuts: number;
  /** Pieces of data that were swallowed by a silence. */
  readonly swallowed: number;
  /** How often the server had no connection to give. */
  readonly refused: number;
}

interface Ends {
  server: Socket | null;
  /** What the server, and the client, could not take yet. */
  readonly toServer: Uint8Array[];
  readonly toClient: Uint8Array[];
  /** The answer to its commit is not to arrive. */
  deaf: boolean;
  /** Nothing arrives over it any more. */
  dead: boolean;
  listens: boolean;
  /** Gateways speak to each other over it. */
  letters: boolean;
}

const COMMIT = "; commit\0";
const LISTEN = "listen ";
const LETTERS = "node_letters";
const TOO_MANY_CONNECTIONS = "C53300";
/** The answer to a connection that is refused is short. */
const MAX_REFUSAL_BYTES = 500;

/** `hostname`: where gateways reach it. */
export function startCuttingProxy(url: string, hostname = "127.0.0.1"): CuttingProxy {
  const target = new URL(url);
  const clients = new Set<Socket<Ends>>();
  let next: Cut | null = null;
  let open = true;
  let silent: Silence | null = null;
  let cuts = 0;
  let swallowed = 0;
  let refused = 0;

  const cut = (client: Socket<Ends>): void => {
    cuts++;
    client.data.server?.terminate();
    client.terminate();
  };
  const isSilent = ({ dead, letters }: Ends): boolean => dead || silent === "all" || (silent === "letters" && letters);

  const fromServer = (client: Socket<Ends>, chunk: Uint8Array): void => {
    if (isSilent(client.data)) return void swallowed++;
    if (client.data.deaf) return cut(client);
    if (chunk.length < MAX_REFUSAL_BYTES && Buffer.from(chunk).includes(TOO_MANY_CONNECTIONS)) refused++;
    pass(client, client.data.toClient, chunk);
  };

  const fromClient = (client: Socket<Ends>, chunk: Uint8Array): void => {
    const { data } = client;
    const said = Buffer.from(chunk);
    data.listens ||= said.includes(LISTEN);
    data.letters ||= data.listens || said.includes(LETTERS);
    if (isSilent(data)) return void swallowed++;
    const cutNow = next !== null && said.includes(COMMIT) ? next : null;
    if (cutNow !== null) next = null;
    if (cutNow === "before the commit") return cut(client);
    data.deaf ||= cutNow === "after the commit";
    if (data.server) pass(data.server, data.toServer, chunk);
    else data.toServer.push(chunk.slice());
  };

  const listener: TCPSocketListener<Ends> = Bun.listen<Ends>({
    hostname,
    port: 0,
    socket: {
      open(client) {
        const nothing = { toServer: [], toClient: [], deaf: false, dead: false, listens: false, letters: false };
        client.data = { server: null, ...nothing };
        if (!open) return void client.terminate();
        clients.add(client);
        void Bun.connect({
          hostname: target.hostname,
          port: Number(target.port),
          socket: {
            open(server) {
              client.data.server = server;
              flush(server, client.data.toServer);
            },
            data: (_server, chunk) => fromServer(client, chunk),
            drain: (server) => flush(server, client.data.toServer),
            close: () => void client.end(),
            error: () => void client.terminate(),
          },
        }).catch(() => client.terminate());
      },
      data: fromClient,
      drain: (client) => flush(client, client.data.toClient),
      close(client) {
        clients.delete(client);
        client.data.server?.end();
      },
      error: (client) => void client.terminate(),
    },
  });
  const own = new URL(url);
  own.hostname = hostname;
  own.port = String(listener.port);
  return {
    url: own.href,
    cutNext: (wanted) => void (next = wanted),
    cutAll() {
      open = false;
      for (const client of clients) cut(client);
    },
    silence: (which = "all") => void (silent = which),
    deafen() {
      for (const { data } of clients) data.dead ||= data.listens;
    },
    mend() {
      open = true;
      if (silent === null) return;
      const ended = [...clients].filter(({ data }) => isSilent(data));
      silent = null;
      for (const client of ended) cut(client);
    },
    get cuts() {
      return cuts;
    },
    get swallowed() {
      return swallowed;
    },
    get refused() {
      return refused;
    },
    [Symbol.dispose]: () => listener.stop(true),
  };
}

/** A socket takes as much as there is room for; what it leaves follows when it has room again. */
function pass(to: Socket<unknown>, waiting: Uint8Array[], chunk: Uint8Array): void {
  waiting.push(chunk.slice());
  flush(to, waiting);
}

function flush(to: Socket<unknown>, waiting: Uint8Array[]): void {
  for (let [first] = waiting; first; [first] = waiting) {
    const taken = Math.max(0, to.write(first));
    if (taken < first.length) {
      waiting[0] = first.subarray(taken);
      return;
    }
    waiting.shift();
  }
}
