/** The bytes of frames are counted while they are worked on, and given back afterwards. */
import { expect, test } from "bun:test";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { createByteRoom } from "../byte-room.ts";
import { createSockets, type Socket } from "./sockets.ts";

test("a frame for which there is no room is refused, and its bytes are given back when it was answered", async () => {
  const stuck = Promise.withResolvers<string>();
  const room = createByteRoom(200);
  const sockets = createSockets({
    ids: createSeqIds(),
    log: recordingLog(),
    stream: { seq: 0, since: () => [], onEvent: () => ({ [Symbol.dispose]: () => undefined }) },
    methods: { call: () => stuck.promise },
    room,
    auth: { isCurrent: () => true, count: () => undefined },
  });
  const sent: string[] = [];
  const answered = Promise.withResolvers<void>();
  const socket = {
    readyState: 1,
    data: { identity: {}, rate: { next: () => ({ kind: "take" }) }, inFlight: 0 },
    send(text: string) {
      sent.push(text);
      if (sent.length === 2) answered.resolve();
    },
  } as unknown as Socket;
  const frame = (id: string) => JSON.stringify({ id, method: "status", params: {} }).padEnd(120, " ");
  void sockets.handler.message?.(socket, frame("first"));
  expect(room.held()).toBe(120);
  void sockets.handler.message?.(socket, frame("second"));
  expect(JSON.parse(sent[0] ?? "")).toMatchObject({ id: "second", ok: false, error: { code: "too_many_bytes" } });
  stuck.resolve("done");
  await answered.promise;
  expect(JSON.parse(sent[1] ?? "")).toMatchObject({ id: "first", ok: true, result: "done" });
  expect(room.held()).toBe(0);
});
