/** The order of a connection: the setting decides before a name is looked up, and the audit log has its row before anything goes out. */
import { expect, test } from "bun:test";
import type { EgressCaller, NetworkSetting } from "../contracts/egress.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { NewAuditEntry } from "../contracts/store/tool-calls.ts";
import type { ApprovalAnswer } from "../contracts/tools/approval.ts";
import { silentLog } from "../kit/log.ts";
import { createSocketStream } from "../kit/mux/socket-stream.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { createHostQuestions } from "./host-questions.ts";
import { connectOut } from "./outgoing.ts";
import { createEgress } from "./proxy.ts";

interface Asking {
  readonly network?: NetworkSetting;
  readonly setting?: string;
  readonly answer?: ApprovalAnswer;
  readonly addresses?: readonly string[];
  readonly note?: (row: NewAuditEntry) => Promise<void>;
  readonly gatewayPort?: number;
}

/** What a program says comes in pieces; `did` is all that happens, in order. */
function connection({ network = "all", setting, answer = "deny", ...asking }: Asking) {
  const clock = createFakeClock();
  const did: string[] = [];
  const rows: NewAuditEntry[] = [];
  const program = createSocketStream({
    write: (bytes) => (did.push(`told ${Buffer.from(bytes).toString()}`), bytes.length),
    pause: () => undefined,
    resume: () => undefined,
    shutdown: () => void did.push("complete"),
    end: () => void did.push("closed"),
  });
  const egress = createEgress({
    clock,
    log: silentLog,
    audit: {
      async note(row) {
        await asking.note?.(row);
        rows.push(row);
        did.push(row.kind);
      },
    },
    gatewayPort: Promise.resolve(asking.gatewayPort ?? 0),
    questions: createHostQuestions({ approvals: { ask: async () => answer }, scrub: (text) => text }),
    resolve: async (name) => (did.push(`look up ${name}`), asking.addresses ?? ["93.184.216.34"]),
    connect: (address, port) => (did.push(`connect ${address}:${port}`), Promise.reject(new Error("nobody there"))),
  });
  const caller: EgressCaller = {
    of: {
      principal: "web:user:ann" as Principal,
      sessionKey: "agent:default:main" as SessionKey,
      agentId: "default" as AgentId,
      turnId: "turn" as TurnId,
      role: "owner",
      origin: { channel: "webchat", account: "default", chat: "ann" },
    },
    network,
    over: new AbortController().signal,
    commands: () => [],
    ...(setting === undefined ? {} : { setting }),
  };
  const say = async (...pieces: string[]) => {
    const served = egress.serve(program, caller);
    for (const piece of pieces) {
      program.arrived(Buffer.from(piece));
      await clock.advance(0);
    }
    return served;
  };
  return { clock, did, rows, program, egress, say };
}

const TUNNEL = "CONNECT example.org:443 HTTP/1.1\r\n\r\n";

test("a name is looked up, its row is written, and then its host is connected to", async () => {
  const { did, rows, clock, say } = connection({});
  await clock.advance(1_000);
  await waitForEnd("the connection", say(TUNNEL));
  expect(did.slice(0, 3)).toEqual(["look up example.org", "network.opened", "connect 93.184.216.34:443"]);
  expect(rows.map(({ at }) => at)).toEqual([clock.now()]);
});

test("a host is not connected to while its row is not written, and never when it cannot be", async () => {
  const written = Promise.withResolvers<void>();
  const { did, say, clock } = connection({ note: () => written.promise });
  const served = say(TUNNEL);
  await clock.advance(0);
  expect(did).toEqual(["look up example.org"]);
  written.reject(new Error("disk full"));
  await waitForEnd("the connection", served);
  expect(did).toEqual(["look up example.org", "closed"]);
});

test.each<[string, Asking]>([
  ["the setting lists other hosts", { network: { allow: ["other.example"] } }],
  ["the setting is none", { network: "none" }],
  ["the owner says no", { network: { allow: [], ask: true } }],
])("a name is not even looked up when %s", async (_why, asking) => {
  const { did, say } = connection(asking);
  await waitForEnd("the connection", say(TUNNEL));
  expect([did[0], did.at(-1)]).toEqual(["network.refused", "complete"]);
  expect(did.join("\n")).not.toContain("look up");
});

test("an owner's yes for the session is in the row of the connection", async () => {
  const { rows, say } = connection({ network: { allow: [], ask: true }, answer: "session" });
  await waitForEnd("the connection", say(TUNNEL));
  expect(rows.map(({ detail }) => detail)).toEqual([
    { host: "example.org", port: 443, agent: "default", approval: "session" },
  ]);
});

test.each<[NetworkSetting, string]>([
  ["none", "mcp.servers.shop.network is none, so it reaches no host."],
  [{ allow: ["other.example"] }, "example.org is not listed in mcp.servers.shop.network.allow."],
  [{ allow: [], ask: true }, "mcp.servers.shop.network.allow, and the owner did not allow it."],
])("a program of a server with the setting %j is told that setting, also in its row", async (network, because) => {
  const { did, rows, say } = connection({ network, setting: "mcp.servers.shop.network" });
  await waitForEnd("the connection", say(TUNNEL));
  expect(did.find((one) => one.startsWith("told "))).toContain(because);
  expect(String(rows[0]?.detail["because"])).toContain(because);
});

test("a refused program gets a whole answer of HTTP, with the setting of its own server and the length in bytes", async () => {
  const { did, say } = connection({ addresses: ["10.0.0.7"], setting: "mcp.servers.shop.network" });
  await waitForEnd("the connection", say(TUNNEL));
  const body =
    "pi-gateway: example.org is on a private network. Listing it in mcp.servers.shop.network does not help. " +
    'The owner can set mcp.servers.shop.network to "machine", which opens everything that this machine reaches.\n';
  expect(did.slice(-2)).toEqual([
    `told HTTP/1.1 403 example.org is on a private network\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    "complete",
  ]);
});

test("a request may come in many pieces", async () => {
  const { did, say } = connection({});
  await waitForEnd("the connection", say("CONN", "ECT example.org", ":443 HTTP/1.1\r\n\r", "\n"));
  expect(did[0]).toBe("look up example.org");
});

const MAX_HEAD_BYTES = 16 * 1024;

test.each([
  [0, "look up example.org"],
  [1, "told HTTP/1.1 400"],
])("a head that is %d bytes larger than allowed leads to: %s", async (more, first) => {
  const start = "CONNECT example.org:443 HTTP/1.1\r\nA: ";
  const { did, say } = connection({});
  const head = start.padEnd(MAX_HEAD_BYTES + more, "a");
  await waitForEnd("the connection", say(head, "\r\n\r\n"));
  expect(did[0]).toStartWith(first);
});

test("a program has ten seconds for its request, and not less", async () => {
  const { clock, did, program, say } = connection({});
  const served = say("CONNECT exa");
  await clock.advance(9_999);
  expect(did).toEqual([]);
  program.arrived(Buffer.from("mple.org:443 HTTP/1.1\r\n\r\n"));
  await waitForEnd("the connection", served);
  expect(did[0]).toBe("look up example.org");
});

test("a program that hangs up before its request is whole is waited for no longer, and leaves no timer", async () => {
  const { clock, program, rows, say } = connection({});
  const served = say("CONNECT exa");
  await clock.advance(0);
  program.closed(null);
  await waitForEnd("the connection", served);
  expect([clock.pending(), rows]).toEqual([0, []]);
});

test("a connection to the gateway is joined with the gateway's own port, and cut when nobody listens there", async () => {
  using gateway = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket, bytes) => void socket.end(`heard ${bytes.toString()}`) },
  });
  const { did, program, egress } = connection({ gatewayPort: gateway.port });
  const served = egress.serveGateway(program);
  program.arrived(Buffer.from("hello"));
  await waitFor("the answer", () => did.includes("told heard hello"));
  program.ended();
  await waitForEnd("the connection", served);
  gateway.stop(true);
  const alone = connection({ gatewayPort: gateway.port });
  await waitForEnd("the connection", alone.egress.serveGateway(alone.program));
  expect(alone.did).toEqual(["closed"]);
});

test("a large body that a program sends arrives whole at a host that is slow to read", async () => {
  const BODY_BYTES = 4 * 1024 * 1024;
  const arrived = Promise.withResolvers<number>();
  let heard = 0;
  using host = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.pause();
        setImmediate(() => socket.resume());
      },
      data: (_socket, bytes) => void (heard += bytes.length),
      end: (socket) => void socket.end(),
      close: () => arrived.resolve(heard),
    },
  });
  const stream = await connectOut("127.0.0.1", host.port);
  await waitForEnd("all of it is on its way", stream.write(new Uint8Array(BODY_BYTES)));
  stream.end();
  expect(await waitForEnd("the end", arrived.promise)).toBe(BODY_BYTES);
});

test("a host that hangs up is noticed by whoever waits for it", async () => {
  using host = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: (socket) => void socket.terminate(), data: () => undefined },
  });
  const stream = await connectOut("127.0.0.1", host.port);
  const read = stream.read().then(String, () => "cut");
  expect(["cut", "null"]).toContain(await waitForEnd("the end", read));
  await waitFor("the cut", () => stream.cut.aborted);
});
