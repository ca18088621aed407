/**
 * The wire between one life of a simulated gateway and Postgres. It knows where a message of the protocol begins and ends, so it can answer in the
 * server's place that the disk has failed, or cut a connection before or after its commit. It refuses everybody after the end of its life.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
import type { Socket, TCPSocketListener } from "bun";
import type { Chance } from "../../../src/testing/chance.ts";
import type { Trouble } from "../../../src/testing/disk.ts";

export interface Wire {
  readonly url: string;
  /** Everything that goes over it ends now, and nothing goes over it again. */
  end(): void;
}

interface WireDeps {
  readonly chance: Chance;
  readonly trouble: () => Trouble | null;
}

interface Ends {
  server: Socket | null;
  toServer: Uint8Array[];
  readonly toClient: Uint8Array[];
  /** Of the client: what is no whole message yet. */
  held: Buffer;
  hasBegun: boolean;
  inTransaction: boolean;
  /** Until the client's `Sync` everything it says belongs to a statement that was refused. */
  refusing: boolean;
  /** Begins with the answer of the server to its commit. */
  cutAtAnswer: boolean;
  readonly statements: Map<string, string>;
}

const FAILING_STATEMENTS = 0.4;
const BEGIN_WRITE = "begin isolation level serializable";
const BEGIN_READ = "begin isolation level repeatable read read only";
const COMMIT = "; commit";
/** Gateways say that they live, and speak to each other: this world has one, and its time must not be over because of a disk. */
const SPARED = /\bnode_letters\b|\bnodes\b|^listen |^notify /;
const WRITE = /^\s*(?:insert|update|delete)\b/i;
const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;

export function openWire(url: string, deps: WireDeps): Wire {
  const target = new URL(url);
  const clients = new Set<Socket<Ends>>();
  let isOver = false;
  const cut = (client: Socket<Ends>): void => {
    clients.delete(client);
    client.data.server?.terminate();
    client.terminate();
  };
  const listener: TCPSocketListener<Ends> = Bun.listen<Ends>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        client.data = newEnds();
        if (isOver) return void client.terminate();
        clients.add(client);
        void Bun.connect({
          hostname: target.hostname,
          port: Number(target.port),
          socket: {
            open(server) {
              if (isOver) return void server.terminate();
              client.data.server = server;
              flush(server, client.data.toServer);
            },
            data(_server, chunk) {
              if (client.data.cutAtAnswer) return cut(client);
              send(client, client.data.toClient, chunk);
            },
            drain: (server) => flush(server, client.data.toServer),
            close: () => void client.end(),
            error: () => void client.terminate(),
          },
        }).catch(() => client.terminate());
      },
      data(client, chunk) {
        for (const message of messagesIn(client.data, chunk)) {
          if (!clients.has(client)) return;
          pass(client, message);
        }
      },
      drain: (client) => flush(client, client.data.toClient),
      close(client) {
        clients.delete(client);
        client.data.server?.end();
      },
      error: (client) => void client.terminate(),
    },
  });

  const pass = (client: Socket<Ends>, message: Buffer): void => {
    const { data } = client;
    const act = data.hasBegun ? decide(deps, data, message) : "pass";
    data.hasBegun = true; // the first message has no type
    if (act === "cut") return cut(client);
    if (act === "refuse") return void send(client, data.toClient, refusal(data.inTransaction));
    if (act === "swallow") return;
    data.cutAtAnswer ||= act === "cut at the answer";
    if (data.server) send(data.server, data.toServer, message);
    else data.toServer.push(message);
  };

  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String(listener.port);
  return {
    url: own.href,
    end() {
      isOver = true;
      for (const client of clients) cut(client);
      listener.stop(true);
    },
  };
}

function newEnds(): Ends {
  const flags = { hasBegun: false, inTransaction: false, refusing: false, cutAtAnswer: false };
  return { server: null, toServer: [], toClient: [], held: Buffer.alloc(0), statements: new Map(), ...flags };
}

/** The whole messages that are there now. */
function messagesIn(ends: Ends, chunk: Uint8Array): readonly Buffer[] {
  ends.held = Buffer.concat([ends.held, chunk]);
  const messages: Buffer[] = [];
  for (let first = !ends.hasBegun; ; first = false) {
    const typed = first ? 0 : TYPE_BYTES;
    if (ends.held.length < typed + LENGTH_BYTES) return messages;
    const size = typed + ends.held.readInt32BE(typed);
    if (ends.held.length < size) return messages;
    messages.push(ends.held.subarray(0, size));
    ends.held = ends.held.subarray(size);
  }
}

type Act = "pass" | "refuse" | "swallow" | "cut" | "cut at the answer";

function decide({ trouble, chance }: WireDeps, ends: Ends, message: Buffer): Act {
  const type = String.fromCharCode(message[0] ?? 0);
  if (ends.refusing) {
    ends.refusing = type !== "S";
    return type === "S" ? "refuse" : "swallow";
  }
  if (type === "Q") return decideControl(ends, textAt(message, TYPE_BYTES + LENGTH_BYTES), trouble(), chance);
  if (type !== "P" && type !== "B") return "pass";
  const text = statementOf(ends, message, type);
  const fails =
    text !== null &&
    !SPARED.test(text) &&
    (ends.inTransaction
      ? trouble() === "statement" && WRITE.test(text) && chance.hits(FAILING_STATEMENTS)
      : trouble() === "read");
  if (!fails) return "pass";
  if (type === "P") ends.statements.delete(nameOf(message));
  ends.refusing = true;
  return "swallow";
}

function decideControl(ends: Ends, text: string, trouble: Trouble | null, chance: Chance): Act {
  if (text === BEGIN_WRITE && trouble === "begin") return "refuse";
  if (text === BEGIN_READ && trouble === "read") return "refuse";
  if (text.endsWith(COMMIT) && trouble === "commit") {
    const act = chance.pick<Act>(["refuse", "refuse", "cut", "cut at the answer"]);
    if (act !== "refuse") ends.inTransaction = false;
    return act;
  }
  if (text.startsWith("begin")) ends.inTransaction = true;
  if (text.endsWith(COMMIT) || text === "rollback") ends.inTransaction = false;
  return "pass";
}

/** Null: it was bound before, and what comes now belongs to it. */
function statementOf(ends: Ends, message: Buffer, type: "P" | "B"): string | null {
  if (type === "P") {
    const name = nameOf(message);
    const text = textAt(message, TYPE_BYTES + LENGTH_BYTES + name.length + 1);
    ends.statements.set(name, text);
    return text;
  }
  const portal = textAt(message, TYPE_BYTES + LENGTH_BYTES);
  const name = textAt(message, TYPE_BYTES + LENGTH_BYTES + portal.length + 1);
  return name === "" ? null : (ends.statements.get(name) ?? null); // one without a name was looked at as it was parsed
}

function nameOf(message: Buffer): string {
  return textAt(message, TYPE_BYTES + LENGTH_BYTES);
}

function textAt(message: Buffer, at: number): string {
  return message.toString("utf8", at, message.indexOf(0, at));
}

/** As the server says it: the statement failed, and here is the next one's turn. */
function refusal(inTransaction: boolean): Buffer {
  const fields = Buffer.from("SERROR\0VERROR\0C58030\0Mthe simulated disk failed\0\0");
  const ready = Buffer.from(inTransaction ? "E" : "I");
  return Buffer.concat([typed("E", fields), typed("Z", ready)]);
}

function typed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(TYPE_BYTES + LENGTH_BYTES);
  head.write(type);
  head.writeInt32BE(LENGTH_BYTES + body.length, TYPE_BYTES);
  return Buffer.concat([head, body]);
}

function send(to: Socket<unknown>, waiting: Uint8Array[], chunk: Uint8Array): void {
  waiting.push(chunk.slice());
  flush(to, waiting);
}

/** A socket takes as much as there is room for; what it leaves follows when it has room again. */
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
