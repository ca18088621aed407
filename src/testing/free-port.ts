/** A port of 127.0.0.1 that was free a moment ago. Another process may take it first, so the caller tries again with another one. */
import { createServer } from "node:net";
import { deferred } from "../kit/deferred.ts";

export async function freePort(): Promise<number> {
  const server = createServer();
  const opened = deferred<number>();
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    opened.resolve(typeof address === "object" && address ? address.port : 0);
  });
  const port = await opened.promise;
  const closed = deferred<void>();
  server.close(() => closed.resolve());
  await closed.promise;
  return port;
}
