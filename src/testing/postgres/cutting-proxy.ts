/** A wire between a gateway and Postgres that can be cut at the worst moment: before a commit reaches the server, or before its answer comes back. */
import type { Socket, TCPSocketListener } from "bun";

export type Cut = "before the commit" | "after the commit";

interface CuttingProxy extends Disposable {
  /** The database by way of the proxy. */
  readonly url: string;
  /** Cuts the connection at its next commit, once. */
  cutNext(cut: Cut): void;
  /** Cuts everything now, and lets nobody through until it is mended. */
  cutAll(): void;
  /** From now on nothing arrives on either side, and nobody is told: a network that is gone. Mended, connections of before are cut. */
  silence(): void;
  mend(): void;
  readonly cuts: number;
}

interface Ends {
  server: Socket | null;
  waiting: Uint8Array[];
  /** The answer to its commit is not to arrive. */
  deaf: boolean;
}

export function startCuttingProxy(url: string): CuttingProxy {
  const target = new URL(url);
  const clients = new Set<Socket<Ends>>();
  let next: Cut | null = null;
  let open = true;
  let silent = false;
  let cuts = 0;

  const cut = (client: Socket<Ends>): void => {
    cuts++;
    client.data.server?.terminate();
    client.terminate();
  };

  const listener: TCPSocketListener<Ends> = Bun.listen<Ends>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        client.data = { server: null, waiting: [], deaf: false };
        if (!open) return void client.terminate();
        clients.add(client);
        void Bun.connect({
          hostname: target.hostname,
          port: Number(target.port),
          socket: {
            open(server) {
              client.data.server = server;
              for (const chunk of client.data.waiting.splice(0)) server.write(chunk);
            },
            data(_server, chunk) {
              if (silent) return;
              if (client.data.deaf) cut(client);
              else client.write(chunk);
            },
            close: () => void client.end(),
            error: () => void client.terminate(),
          },
        }).catch(() => client.terminate());
      },
      data(client, chunk) {
        if (silent) return;
        const isCommit = next !== null && Buffer.from(chunk).includes("; commit\0");
        if (isCommit && next === "before the commit") {
          next = null;
          return cut(client);
        }
        if (isCommit) {
          next = null;
          client.data.deaf = true;
        }
        if (client.data.server) client.data.server.write(chunk);
        else client.data.waiting.push(chunk);
      },
      close(client) {
        clients.delete(client);
        client.data.server?.end();
      },
      error: (client) => void client.terminate(),
    },
  });
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String(listener.port);
  return {
    url: own.href,
    cutNext: (wanted) => void (next = wanted),
    cutAll() {
      open = false;
      for (const client of clients) cut(client);
    },
    silence: () => void (silent = true),
    mend() {
      open = true;
      if (!silent) return;
      silent = false;
      for (const client of clients) cut(client);
    },
    get cuts() {
      return cuts;
    },
    [Symbol.dispose]: () => listener.stop(true),
  };
}
