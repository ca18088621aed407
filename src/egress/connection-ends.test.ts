/** Every way that a connection of a program can end: the host is let go of, no timer stays, and nobody listens to the program any more. */
import { expect, test } from "bun:test";
import type { EgressCaller } from "../contracts/egress.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import { silentLog } from "../kit/log.ts";
import { createSocketStream, type SocketStream } from "../kit/mux/socket-stream.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import type { HostQuestions } from "./host-questions.ts";
import { connectOut } from "./outgoing.ts";
import { createEgress } from "./proxy.ts";

const CALLER: EgressCaller = {
  of: {
    principal: "web:user:ann" as Principal,
    sessionKey: "agent:default:main" as SessionKey,
    agentId: "default" as AgentId,
    turnId: "turn" as TurnId,
    role: "owner",
    origin: { channel: "webchat", account: "default", chat: "ann" },
  },
  network: "all",
  over: new AbortController().signal,
  commands: () => [],
};
type HostAnswer = Awaited<ReturnType<HostQuestions["ask"]>>;

const TUNNEL = "CONNECT example.org:443 HTTP/1.1\r\n\r\n";
const MINUTE_MS = 60_000;
/** The clock is moved by hand, so each end is at once. */
const AT_ONCE = { withinMs: 2_000 };

interface Side {
  readonly stream: SocketStream;
  /** What was written to it. */
  readonly got: string[];
  /** The gateway has let go of it. */
  closed: boolean;
  /** It takes nothing for now. */
  full: boolean;
}

function createSide(): Side {
  const got: string[] = [];
  const stream = createSocketStream({
    write(bytes) {
      if (side.full) return 0;
      got.push(Buffer.from(bytes).toString("latin1"));
      return bytes.length;
    },
    pause: () => undefined,
    resume: () => undefined,
    shutdown: () => undefined,
    end: () => void (side.closed = true),
  });
  const side: Side = { stream, got, closed: false, full: false };
  return side;
}

/** A program that has asked for a tunnel, or for what is `asked`, and a host; `connecting` decides when the host is there. */
async function tunnel(connecting?: Promise<unknown>, asked: string | Uint8Array = TUNNEL) {
  const clock = createFakeClock();
  const [program, host] = [createSide(), createSide()];
  const egress = createEgress({
    clock,
    log: silentLog,
    audit: { note: async () => undefined },
    gatewayPort: Promise.resolve(0),
    questions: { ask: () => Promise.reject(new Error("nobody is asked here")) },
    resolve: async () => ["93.184.216.34"],
    connect: async () => {
      await connecting;
      return host.stream;
    },
  });
  const served = egress.serve(program.stream, CALLER);
  program.stream.arrived(Buffer.from(asked));
  await clock.advance(0);
  return { clock, program, host, served };
}

const bytes = (text: string) => Buffer.from(text);

test("a tunnel whose program and host have both said everything is over, and leaves no timer", async () => {
  const { clock, program, host, served } = await tunnel();
  program.stream.arrived(bytes("question"));
  host.stream.arrived(bytes("answer"));
  await clock.advance(0);
  program.stream.ended();
  host.stream.ended();
  await waitForEnd("the tunnel", served, AT_ONCE);
  expect([program.got, host.got]).toEqual([["HTTP/1.1 200 Connection established\r\n\r\n", "answer"], ["question"]]);
  expect([clock.pending(), host.closed]).toEqual([0, true]);
});

test("a host is let go of when its program hangs up, even while the host takes nothing and says nothing", async () => {
  const { clock, program, host, served } = await tunnel();
  host.full = true;
  program.stream.arrived(bytes("question"));
  await clock.advance(0);
  program.stream.closed(null);
  await waitForEnd("the tunnel", served, AT_ONCE);
  expect([clock.pending(), host.closed]).toEqual([0, true]);
});

test("a host is let go of when its program hangs up before it was told that the tunnel is there", async () => {
  const isThere = Promise.withResolvers<void>();
  const { clock, program, host, served } = await tunnel(isThere.promise);
  program.full = true;
  isThere.resolve();
  await clock.advance(0);
  program.stream.closed(null);
  await waitForEnd("the tunnel", served, AT_ONCE);
  expect([clock.pending(), host.closed]).toEqual([0, true]);
});

test("a program that does not take the word that its tunnel is there is cut after five minutes, and so is its host", async () => {
  const isThere = Promise.withResolvers<void>();
  const { clock, program, host, served } = await tunnel(isThere.promise);
  program.full = true;
  isThere.resolve();
  await clock.advance(5 * MINUTE_MS);
  await waitForEnd("the tunnel", served, AT_ONCE);
  expect([clock.pending(), program.closed, host.closed]).toEqual([0, true, true]);
});

test("a program is let go of when its host hangs up", async () => {
  const { clock, program, host, served } = await tunnel();
  host.stream.closed(new Error("reset"));
  await waitForEnd("the tunnel", served, AT_ONCE);
  expect([clock.pending(), program.closed]).toEqual([0, true]);
});

test("a tunnel in which nothing was said for five minutes is cut on both sides, and each piece begins the wait anew", async () => {
  const { clock, program, host, served } = await tunnel();
  await clock.advance(4 * MINUTE_MS);
  host.stream.arrived(bytes("still here"));
  await clock.advance(5 * MINUTE_MS - 1);
  expect([program.closed, host.closed]).toEqual([false, false]);
  await clock.advance(1);
  await waitForEnd("the tunnel", served, AT_ONCE);
  expect([clock.pending(), program.closed, host.closed]).toEqual([0, true, true]);
});

test("a host that cannot be reached in fifteen seconds is given up, and let go of if it comes later", async () => {
  const isThere = Promise.withResolvers<void>();
  const { clock, program, host, served } = await tunnel(isThere.promise);
  await clock.advance(14_999);
  expect(program.got).toEqual([]);
  await clock.advance(1);
  await waitForEnd("the answer", served, AT_ONCE);
  expect(program.got.join("")).toContain("502 example.org could not be reached on port 443");
  isThere.resolve();
  await clock.advance(0);
  expect([clock.pending(), host.closed]).toEqual([0, true]);
});

test("a host that comes after its program hung up is let go of", async () => {
  const isThere = Promise.withResolvers<void>();
  const { clock, program, host, served } = await tunnel(isThere.promise);
  program.stream.closed(null);
  await waitForEnd("the tunnel", served, AT_ONCE);
  isThere.resolve();
  await clock.advance(0);
  expect([clock.pending(), host.closed]).toEqual([0, true]);
});

test("a program that hangs up while its owner is asked is not waited for, and a later yes opens nothing", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<HostAnswer>();
  const program = createSide();
  const done: string[] = [];
  const egress = createEgress({
    clock: createFakeClock(),
    log: silentLog,
    audit: { note: async ({ kind }) => void done.push(kind) },
    gatewayPort: Promise.resolve(0),
    questions: { ask: () => (asked.resolve(), answer.promise) },
    resolve: async () => (done.push("resolved"), []),
  });
  const served = egress.serve(program.stream, { ...CALLER, network: { allow: [], ask: true } });
  program.stream.arrived(Buffer.from(TUNNEL));
  await waitForEnd("the question", asked.promise, AT_ONCE);
  program.stream.closed(null);
  await waitForEnd("the connection", served, AT_ONCE);
  answer.resolve({ kind: "yes", scope: "once" });
  await Promise.resolve();
  expect(done).toEqual([]);
});

test("a host that has said all it wants to say still hears what the program says", async () => {
  const heard = Promise.withResolvers<string>();
  let text = "";
  using host = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    allowHalfOpen: true,
    socket: {
      open(socket) {
        socket.write("that is all");
        socket.shutdown();
      },
      data: (_socket, got) => void (text += got.toString()),
      end: (socket) => void socket.end(),
      close: () => heard.resolve(text),
    },
  });
  const stream = await connectOut("127.0.0.1", host.port);
  expect(Buffer.from((await stream.read()) ?? []).toString()).toBe("that is all");
  expect(await stream.read()).toBeNull();
  await new Promise((resolve) => setImmediate(resolve)); // a socket that ends with its other side has ended by then
  await stream.write(bytes("one more thing")).catch(() => undefined); // what the host heard says whether it arrived
  stream.end();
  expect(await waitForEnd("what the host hears", heard.promise, AT_ONCE)).toBe("one more thing");
});

test("a host gets the headers and the body of a request byte by byte, whatever letters they are in", async () => {
  const rest = Buffer.concat([
    Buffer.from("X-Name: Jos\u00e9 \u4f60\r\nX-Old: "),
    Buffer.from([0xe9, 0xff]),
    Buffer.from("\r\n\r\nbody \u00e9"),
  ]);
  const asked = Buffer.concat([Buffer.from("POST http://example.org/ HTTP/1.1\r\n"), rest]);
  const { program, host, served } = await tunnel(undefined, asked);
  expect(host.got.join("")).toBe(
    `POST / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n${rest.toString("latin1")}`,
  );
  program.stream.closed(null);
  await waitForEnd("the connection", served, AT_ONCE);
});
