/** The network between a browser and a gateway, which a test cuts and mends while the gateway goes on working. */
import { once } from "node:events";
import { type Socket, connect, createServer } from "node:net";

export interface Relay extends AsyncDisposable {
  /** The gateway by way of this network. */
  readonly url: string;
  /** As in `url`; the gateway has to answer to it. */
  readonly host: string;
  /** Where it leads. */
  to(gatewayUrl: string): void;
  /** Ends every connection, and lets nobody through until it is mended. */
  cut(): void;
  mend(): void;
}

/** Begins before its gateway, which is told its host. */
export async function startRelay(): Promise<Relay> {
  let target: URL | null = null;
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((client) => {
    if (!isOpen || target === null) return void client.destroy();
    const gateway = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => undefined); // the end that follows is enough
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const cut = () => {
    isOpen = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://${host}`,
    host,
    to(gatewayUrl) {
      target = new URL(gatewayUrl);
    },
    cut,
    mend() {
      isOpen = true;
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
