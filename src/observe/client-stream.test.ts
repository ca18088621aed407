import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ClientEvent } from "../contracts/events.ts";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { type ClientStreamOptions, createClientStream } from "./client-stream.ts";
import { createEvents } from "./events.ts";

const sessionKey = "agent:default:webchat:dm:1" as SessionKey;
const turnId = "turn_1" as TurnId;

function world(options: ClientStreamOptions) {
  const log = recordingLog();
  const events = createEvents({ log });
  const stream = createClientStream({ events }, options);
  return { log, events, stream, say: (text: string) => events.emit("turn.delta", { sessionKey, turnId, text }) };
}

test("an event is numbered within its life and serialised whole", () => {
  const { stream, say } = world({ epoch: 3 });
  const heard: ClientEvent[] = [];
  stream.onEvent((event) => heard.push(event));
  say("hello");
  expect(stream.seq).toBe(3_000_000_001);
  expect(heard).toEqual([
    {
      event: "turn.delta",
      seq: 3_000_000_001,
      sessionKey,
      json: JSON.stringify({
        event: "turn.delta",
        seq: 3_000_000_001,
        data: { sessionKey, turnId, text: "hello" },
      }),
    },
  ]);
});

test("events that are not for clients get no number", () => {
  const { stream, events } = world({ epoch: 1 });
  events.emit("agent.spawned", { pid: 7 });
  expect(stream.seq).toBe(1_000_000_000);
});

test("a client that is up to date misses nothing, and one from another life or from the future has to start over", () => {
  const { stream, say } = world({ epoch: 2 });
  say("a");
  expect(stream.since(2_000_000_001)).toEqual([]);
  expect(stream.since(2_000_000_002)).toBeNull();
  expect(stream.since(1_999_999_999)).toBeNull();
  expect(stream.since(1_000_000_001)).toBeNull();
  expect(stream.since(Number.NaN)).toBeNull();
  expect(stream.since(2_000_000_000.5)).toBeNull();
});

test("for any emissions and any point of return, exactly the missing events are replayed, or none at all", () => {
  const scenario = fc.record({
    maxEvents: fc.integer({ min: 1, max: 12 }),
    maxBytes: fc.integer({ min: 120, max: 2_000 }),
    texts: fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 40 }),
    back: fc.integer({ min: -2, max: 45 }),
  });
  fc.assert(
    fc.property(scenario, ({ maxEvents, maxBytes, texts, back }) => {
      const { stream, say } = world({ epoch: 1, maxEvents, maxBytes });
      const all: ClientEvent[] = [];
      stream.onEvent((event) => all.push(event));
      for (const text of texts) say(text);

      // What a memory of that many events and bytes can still hold, reckoned from the newest backwards.
      let held = 0;
      let bytes = 0;
      for (const event of all.toReversed()) {
        bytes += Buffer.byteLength(event.json);
        if (held === maxEvents || bytes > maxBytes) break;
        held++;
      }
      const expected = back < 0 || back > held ? null : all.slice(all.length - back);
      expect(stream.since(stream.seq - back)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("a listener that throws keeps no other listener from the event, and the failure is logged", () => {
  const { stream, say, log } = world({ epoch: 1 });
  const heard: number[] = [];
  stream.onEvent(() => {
    throw new Error("socket gone");
  });
  stream.onEvent((event) => heard.push(event.seq));
  say("x");
  expect(heard).toEqual([1_000_000_001]);
  expect(log.lines.map((line) => line.words)).toEqual(["event listener failed"]);
});

test("a disposed stream hears nothing more", () => {
  const { stream, say } = world({ epoch: 1 });
  say("a");
  stream[Symbol.dispose]();
  say("b");
  expect(stream.seq).toBe(1_000_000_001);
});
