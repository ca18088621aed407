import { describe, expect, test } from "bun:test";
import { type Connection, type ConnectionDeps, openConnection, Refusal, type Socket } from "./connection.ts";

interface FakeSocket extends Socket {
  readonly sent: { id: string; method: string; params: Record<string, unknown> }[];
  closed: boolean;
  say(frame: unknown): void;
}

/** Plays gateway, browser and clock: sockets are opened by hand, timers run by `pass`. */
function world(signedIn = true) {
  const sockets: FakeSocket[] = [];
  const timers: { at: number; run: () => void; off: boolean }[] = [];
  const seen: string[] = [];
  let now = 0;
  const deps: ConnectionDeps = {
    dial() {
      const socket: FakeSocket = {
        sent: [],
        closed: false,
        send: (text) => void socket.sent.push(JSON.parse(text)),
        close: () => void (socket.closed = true),
        say: (frame) => socket.onmessage?.({ data: typeof frame === "string" ? frame : JSON.stringify(frame) }),
        onopen: null,
        onmessage: null,
        onclose: null,
      };
      sockets.push(socket);
      return socket;
    },
    signedIn: async () => signedIn,
    later(ms, run) {
      const timer = { at: now + ms, run, off: false };
      timers.push(timer);
      return () => void (timer.off = true);
    },
    random: () => 1,
    onState: (state) => void seen.push(state),
    onEvent: (event) => void seen.push(`${event.event} ${event.seq}`),
    onResync: () => void seen.push("resync"),
    onOpen: () => void seen.push("following"),
  };
  const pass = (ms: number) => {
    now += ms;
    for (const timer of timers.splice(0)) {
      if (timer.off) continue;
      if (timer.at <= now) timer.run();
      else timers.push(timer);
    }
  };
  const last = () => sockets.at(-1) as FakeSocket;
  return { deps, sockets, seen, pass, last };
}

/** Opens the newest socket and answers its subscription. */
function accept(w: ReturnType<typeof world>, seq = 5): FakeSocket {
  const socket = w.last();
  socket.onopen?.();
  const subscribe = socket.sent.at(-1);
  socket.say({ id: subscribe?.id, ok: true, result: { seq } });
  return socket;
}

function opened(): { w: ReturnType<typeof world>; line: Connection; socket: FakeSocket } {
  const w = world();
  const line = openConnection(w.deps);
  return { w, line, socket: accept(w) };
}

const hello = { session: "s", text: "hi", clientId: "c1" };

describe("requests", () => {
  test("are answered by id, in whatever order", async () => {
    const { line, socket } = opened();
    const one = line.request("chat.abort", { session: "a" });
    const two = line.request("chat.abort", { session: "b" });
    const [first, second] = socket.sent.slice(1);
    socket.say({ id: second?.id, ok: true, result: { aborted: false } });
    socket.say({ id: first?.id, ok: true, result: { aborted: true } });
    expect([await one, await two]).toEqual([{ aborted: true }, { aborted: false }]);
  });

  test("that the gateway refuses carry its code and words", async () => {
    const { line, socket } = opened();
    const answer = line.request("chat.send", hello).catch((error: unknown) => error);
    socket.say({
      id: socket.sent.at(-1)?.id,
      ok: false,
      error: { code: "queue_full", message: "Full.", requestId: "r" },
    });
    const error = await answer;
    expect(error).toBeInstanceOf(Refusal);
    expect((error as Refusal).error).toEqual({ code: "queue_full", message: "Full.", requestId: "r" });
  });

  test("made while the line is down wait for it", () => {
    const w = world();
    const line = openConnection(w.deps);
    void line.request("chat.send", hello);
    expect(w.last().sent).toEqual([]);
    expect(accept(w).sent.map((frame) => frame.method)).toEqual(["subscribe", "chat.send"]);
  });

  test("not answered before the line broke are sent again with the same client id", async () => {
    const { w, line, socket } = opened();
    const answer = line.request("chat.send", hello);
    socket.onclose?.();
    w.pass(250);
    const next = accept(w);
    const again = next.sent.at(-1);
    expect(again?.params).toEqual(hello);
    next.say({ id: again?.id, ok: true, result: { accepted: "in1", sessionKey: "s", duplicate: true } });
    expect((await answer).accepted).toBe("in1");
  });

  test("that were answered are not sent again", async () => {
    const { w, line, socket } = opened();
    const answer = line.request("chat.send", hello);
    socket.say({ id: socket.sent.at(-1)?.id, ok: true, result: { accepted: "in1" } });
    await answer;
    socket.onclose?.();
    w.pass(250);
    expect(accept(w).sent.map((frame) => frame.method)).toEqual(["subscribe"]);
  });

  test("that are too long for the line are refused here, because the gateway would cut the line each time", async () => {
    const { line, socket } = opened();
    const refused = line
      .request("chat.send", { ...hello, text: "ü".repeat(600_000) })
      .catch((error: Error) => error.message);
    expect(await refused).toContain("longer than the gateway accepts");
    expect(socket.sent.map((frame) => frame.method)).toEqual(["subscribe"]);
  });

  test("to stop a turn are not repeated, because a later turn may run by then", async () => {
    const { w, line, socket } = opened();
    const answer = line.request("chat.abort", { session: "s" }).catch(() => "told");
    socket.onclose?.();
    expect(await answer).toBe("told");
    w.pass(250);
    expect(accept(w).sent.map((frame) => frame.method)).toEqual(["subscribe"]);
  });
});

describe("events", () => {
  test("are followed from where they ended before the line broke", () => {
    const { w, socket } = opened();
    socket.say({ event: "status", seq: 9, data: { what: "agents" } });
    socket.onclose?.();
    w.pass(250);
    const next = w.last();
    next.onopen?.();
    expect(next.sent[0]?.params.sinceSeq).toBe(9);
  });

  test("that are replayed are told once each, even when the answer to the subscription comes first", () => {
    const { w, socket } = opened();
    socket.say({ event: "status", seq: 6, data: {} });
    socket.onclose?.();
    w.pass(250);
    const next = accept(w, 8);
    for (const seq of [6, 7, 8]) next.say({ event: "status", seq, data: {} });
    expect(w.seen.filter((one) => one.startsWith("status"))).toEqual(["status 6", "status 7", "status 8"]);
  });

  test("that can no longer be replayed make the web console read everything again and go on from there", () => {
    const { w, socket } = opened();
    socket.say({ event: "resync", seq: 50, data: {} });
    socket.say({ event: "status", seq: 50, data: {} });
    socket.say({ event: "status", seq: 51, data: {} });
    expect(w.seen.slice(-2)).toEqual(["resync", "status 51"]);
  });

  test("in a form nobody knows are left unread", () => {
    const { w, socket } = opened();
    for (const frame of ["not json", "null", "[]", '{"event":1}', '{"id":7,"ok":true}']) socket.say(frame);
    expect(w.seen.at(-1)).toBe("following");
  });
});

describe("a broken line", () => {
  test("is tried again after pauses that double up to a limit", () => {
    const w = world();
    openConnection(w.deps);
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 9; attempt++) {
      w.last().onopen?.();
      w.last().onclose?.();
      const before = w.sockets.length;
      let waited = 0;
      while (w.sockets.length === before) {
        w.pass(250);
        waited += 250;
      }
      pauses.push(waited);
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  });

  test("is tried at once when somebody looks at the web console", () => {
    const { w, line, socket } = opened();
    socket.onclose?.();
    line.nudge();
    expect(w.sockets.length).toBe(2);
  });

  test("that looks open but does not answer is given up", () => {
    const { w, line, socket } = opened();
    void line.request("chat.send", hello);
    w.pass(20_000);
    expect(socket.closed).toBe(true);
    w.pass(250);
    expect(accept(w).sent.at(-1)?.params).toEqual(hello);
  });

  test("because nobody is signed in is not tried again", async () => {
    const w = world(false);
    openConnection(w.deps);
    w.last().onclose?.();
    await Promise.resolve();
    await Promise.resolve();
    w.pass(60_000);
    expect([w.seen.at(-1), w.sockets.length]).toEqual(["signed-out", 1]);
  });
});
