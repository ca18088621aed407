/** Somebody at a plain IRC client, for tests: speaks to the server itself, and writes down what they are told. */
import { connect } from "node:net";
import { deferred } from "../../kit/deferred.ts";
import { waitForEnd } from "../wait-for.ts";

interface Heard {
  readonly by: string;
  readonly command: "PRIVMSG" | "NOTICE";
  readonly to: string;
  readonly text: string;
}

export interface IrcPerson extends AsyncDisposable {
  readonly nick: string;
  /** What others said to them or in a channel they are in, in order. */
  readonly heard: readonly Heard[];
  /** One raw line. */
  write(line: string): void;
  say(to: string, text: string): void;
  /** Resolves when the server has done everything they wrote so far. */
  settled(): Promise<void>;
}

const SAID = /^:([^!\s]+)\S* (PRIVMSG|NOTICE) (\S+) :?(.*)$/;

export async function joinIrc(port: number, nick: string, channels: readonly string[] = []): Promise<IrcPerson> {
  const heard: Heard[] = [];
  const inside = deferred<void>();
  const closed = deferred<void>();
  const fences = new Map<string, () => void>();
  let count = 0;
  let held = "";
  const socket = connect({ host: "127.0.0.1", port });
  const write = (line: string): void => void socket.write(`${line}\r\n`);
  const take = (line: string): void => {
    const [first = "", second = ""] = line.split(" ");
    if (first === "PING") write(`PONG ${second}`);
    if (second === "376" || second === "422") inside.resolve();
    if (second === "433") inside.reject(new Error(`the nick ${nick} is taken`));
    if (second === "PONG") fences.get(line.slice(line.lastIndexOf(":") + 1))?.();
    const [, by = "", command = "", to = "", text = ""] = SAID.exec(line) ?? [];
    if (by !== "" && by !== nick) heard.push({ by, command: command as Heard["command"], to, text });
  };
  socket.on("error", (error) => inside.reject(error));
  socket.on("close", () => closed.resolve());
  socket.on("data", (bytes) => {
    held += bytes.toString("utf8");
    const lines = held.split(/\r?\n/);
    held = lines.pop() ?? "";
    lines.forEach(take);
  });
  socket.on("connect", () => {
    write(`NICK ${nick}`);
    write(`USER ${nick} 0 * :${nick}`);
  });
  await waitForEnd(`${nick} is on the server`, inside.promise);
  const settled = async (): Promise<void> => {
    const mark = `fence${++count}`;
    const done = deferred<void>();
    fences.set(mark, () => done.resolve());
    write(`PING :${mark}`);
    await waitForEnd("the answer to a PING", Promise.race([done.promise, closed.promise]));
  };
  for (const channel of channels) write(`JOIN ${channel}`);
  await settled();
  return {
    nick,
    heard,
    write,
    settled,
    say: (to, text) => write(`PRIVMSG ${to} :${text}`),
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await closed.promise;
    },
  };
}
