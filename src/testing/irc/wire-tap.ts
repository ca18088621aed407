/** Stands between a client and a server on this machine, and can lose its voice or its connection in the middle of things. */
import { connect, createServer, type Socket } from "node:net";
import { deferred } from "../../kit/deferred.ts";

export interface WireTap extends AsyncDisposable {
  readonly port: number;
  /** `silent`: nothing passes, either way. `cut`: the next message still reaches the server, and then the connection is gone. */
  mood: "well" | "silent" | "cut";
  connections(): number;
}

export async function tapWire(serverPort: number): Promise<WireTap> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let mood: WireTap["mood"] = "well";
  const pass = (bytes: Uint8Array | string, from: readonly [Socket, Socket]): void => {
    const [client, server] = from;
    const isMessage = mood === "cut" && Buffer.from(bytes).includes("PRIVMSG");
    server.write(bytes, () => {
      if (isMessage) client.destroy();
    });
  };
  const listener = createServer((client) => {
    const server = connect({ host: "127.0.0.1", port: serverPort });
    const pair = [client, server] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const one of pair) {
      one.on("close", end);
      one.on("error", end);
      if (mood === "silent") one.pause();
    }
    client.on("data", (bytes) => pass(bytes, pair));
    server.on("data", (bytes) => void client.write(bytes));
  });
  const opened = deferred<number>();
  listener.listen(0, "127.0.0.1", () => {
    const address = listener.address();
    opened.resolve(typeof address === "object" && address ? address.port : 0);
  });
  return {
    port: await opened.promise,
    get mood() {
      return mood;
    },
    set mood(next) {
      mood = next;
      for (const one of [...pairs].flat()) void (next === "silent" ? one.pause() : one.resume());
    },
    connections: () => pairs.size,
    async [Symbol.asyncDispose]() {
      for (const one of [...pairs].flat()) one.destroy();
      const closed = deferred<void>();
      listener.close(() => closed.resolve());
      await closed.promise;
    },
  };
}
