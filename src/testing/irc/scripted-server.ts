/** An IRC server that does what a test says, for what ngircd does not have: accounts, echoes, ids, and being told to slow down. */
import { createServer, type Socket } from "node:net";
import { deferred } from "../../kit/deferred.ts";

interface ScriptedServer extends AsyncDisposable {
  readonly port: number;
  /** Every line a client sent, in order. */
  readonly got: readonly string[];
  /** One line to every client. */
  tell(line: string): void;
}

/** Gives the lines that are answered to one, or null for what is usual. */
export type Script = (line: string) => readonly string[] | null;

export async function scriptedServer(caps: string, script: Script = () => null): Promise<ScriptedServer> {
  const got: string[] = [];
  const clients = new Set<Socket>();
  const listener = createServer((socket) => {
    clients.add(socket);
    let held = "";
    socket.on("error", () => clients.delete(socket));
    socket.on("close", () => clients.delete(socket));
    socket.on("data", (bytes) => {
      held += bytes.toString("utf8");
      const lines = held.split("\r\n");
      held = lines.pop() ?? "";
      for (const line of lines) {
        got.push(line);
        for (const answer of script(line) ?? usual(line, caps)) socket.write(`${answer}\r\n`);
      }
    });
  });
  const opened = deferred<number>();
  listener.listen(0, "127.0.0.1", () => {
    const address = listener.address();
    opened.resolve(typeof address === "object" && address ? address.port : 0);
  });
  return {
    port: await opened.promise,
    got,
    tell: (line) => clients.forEach((client) => client.write(`${line}\r\n`)),
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy();
      const closed = deferred<void>();
      listener.close(() => closed.resolve());
      await closed.promise;
    },
  };
}

function usual(line: string, caps: string): readonly string[] {
  const [command = "", first = "", ...rest] = line.split(" ");
  if (command === "CAP" && first === "LS") return [`CAP * LS :${caps}`];
  if (command === "CAP" && first === "REQ") return [`CAP * ACK ${rest.join(" ")}`];
  if (command === "CAP" && first === "END") return [":s 001 pibot :Welcome", ":s 376 pibot :End of MOTD"];
  if (command === "PING") return [`:s PONG s ${line.slice("PING ".length)}`];
  if (command === "JOIN") return [`:pibot!~p@h JOIN ${first}`];
  return [];
}
