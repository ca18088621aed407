/** What Discord's intake asks of the gateway for one message: each field of the look and of what is stored, and the borders of what is taken. */
import { expect, test } from "bun:test";
import type { Receipt } from "../../../contracts/channel.ts";
import type { Arrival, ArrivingFile } from "../../../contracts/channels/platform.ts";
import type { InboundMessage } from "../../../contracts/chat.ts";
import { deferred } from "../../../kit/deferred.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { snowflakeAt } from "../settings.ts";
import { type IntakeDeps, startIntake } from "./intake.ts";
import { createPlaces } from "./threads.ts";
import type { SaidMessage } from "./translate.ts";

const ME = "900000000000000001";
const FRIDA = { id: "900000000000000002", username: "frida", global_name: "Frida" };
const QUEUED = { kind: "queued", id: "in_1", sessionKey: "s", position: 0 } as unknown as Receipt;
const EDIT_MS = 3_600_000;

function world(receipt: Receipt = QUEUED) {
  const clock = createFakeClock();
  const log = recordingLog();
  const [looked, received, kept]: [Arrival[], InboundMessage[], ArrivingFile[]] = [[], [], []];
  const noted: string[] = [];
  const state = { looking: Promise.resolve(), me: ME as string | null };
  const door = {
    async look(arrival: Arrival) {
      looked.push(arrival);
      await state.looking;
      return { kind: "come", role: "owner" };
    },
    receive: async (message: InboundMessage) => (received.push(message), receipt),
  } as unknown as IntakeDeps["door"];
  const files = {
    keep: async (file: ArrivingFile) => (kept.push(file), { kind: "kept", media: { name: file.name } }),
    transcribe: async () => ({ kind: "words", text: "spoken" }),
  } as unknown as IntakeDeps["files"];
  const intake = startIntake({
    clock,
    log,
    door,
    files,
    mediaMaxMb: 1,
    places: createPlaces(),
    seen: {
      known: async () => [],
      last: async () => null,
      note: async (_channel, id) => void noted.push(id),
      forget: async () => undefined,
    },
    api: { channels: { createMessage: async () => ({}) } } as unknown as IntakeDeps["api"],
    download: () => new Promise<never>(() => undefined),
    previews: { expect: () => undefined },
    me: () => state.me,
  });
  const said = (id: string, more: object = {}): SaidMessage =>
    ({ id, channel_id: "1", author: FRIDA, content: "hi", attachments: [], mentions: [], type: 0, ...more }) as never;
  return { clock, log, looked, received, kept, noted, state, intake, said };
}

test("a message is looked at with its author, its words and the time at which it was said", async () => {
  const at = world();
  const saidAt = at.clock.now() - 90_000;
  const id = snowflakeAt(saidAt);
  at.intake.said(at.said(id, { guild_id: "77", mentions: [{ ...FRIDA, id: ME }] }));
  await at.clock.advance(0);
  const where = {
    address: { channel: "discord", account: "default", chat: "1" },
    scope: "group",
    place: "77",
  } as const;
  const sender = { principal: `discord:user:${FRIDA.id}`, name: "Frida" };
  expect(at.looked as unknown[]).toEqual([
    { ...where, sender, mentioned: true, kind: "message", said: { eventId: id, text: "hi", at: saidAt } },
  ]);
  expect(at.received as unknown[]).toEqual([
    {
      ...where,
      sender,
      mentioned: true,
      eventId: id,
      messageIds: [id],
      fingerprint: expect.any(String),
      text: "hi",
      quoted: [],
      attachments: [],
      answering: { to: null, text: "hi" },
      receivedAt: at.clock.now(),
    },
  ]);
  await at.intake[Symbol.asyncDispose]();
});

test("a file is taken with its name, its size and its kind, and as of no known kind when Discord names none", async () => {
  const at = world();
  const file = { id: "1", filename: "a.bin", size: 7, url: "https://cdn.example/a" };
  at.intake.said(at.said(snowflakeAt(at.clock.now()), { attachments: [file, { ...file, content_type: "image/png" }] }));
  await at.clock.advance(0);
  const principal = `discord:user:${FRIDA.id}`;
  const taken = { owner: principal, name: "a.bin", bytes: 7, open: expect.any(Function) };
  expect(at.kept as unknown[]).toEqual([
    { ...taken, mimeType: "application/octet-stream" },
    { ...taken, mimeType: "image/png" },
  ]);
  await at.intake[Symbol.asyncDispose]();
});

test.each([
  ["queued", QUEUED, 1],
  ["known already", { kind: "duplicate", id: "in_1", sessionKey: "s", sameContent: true } as unknown as Receipt, 1],
  ["an answer", { kind: "answered", say: "" } as unknown as Receipt, 1],
  ["refused", { kind: "refused", because: "not_allowed", say: "" } as unknown as Receipt, 0],
])("a message that is %s counts as read, or not", async (_how, receipt, notes) => {
  const at = world(receipt);
  at.intake.said(at.said(snowflakeAt(at.clock.now())));
  await at.clock.advance(0);
  expect(at.noted).toHaveLength(notes);
  await at.intake[Symbol.asyncDispose]();
});

test.each([
  [EDIT_MS, 1],
  [EDIT_MS + 1, 0],
])("a change of a message %d ms after it was said is looked at %d times", async (ageMs, looks) => {
  const at = world();
  const edited_timestamp = "2023-11-14T22:13:20Z";
  at.intake.changed(at.said(snowflakeAt(at.clock.now() - ageMs), { edited_timestamp }));
  await at.clock.advance(0);
  expect(at.looked).toHaveLength(looks);
  await at.intake[Symbol.asyncDispose]();
});

test.each([
  ["nobody made", { edited_timestamp: null }],
  ["that does not say by whom", { edited_timestamp: "2023-11-14T22:13:20Z", author: undefined }],
])("a change %s is not looked at, and fails nothing", async (_which, more) => {
  const at = world();
  at.intake.changed(at.said(snowflakeAt(at.clock.now()), more));
  await at.clock.advance(0);
  expect([at.looked, at.log.lines]).toEqual([[], []]);
  await at.intake[Symbol.asyncDispose]();
});

test("a message is not looked at before the bot knows who it is, nor after its channel began to close", async () => {
  const early = world();
  early.state.me = null;
  early.intake.said(early.said(snowflakeAt(early.clock.now())));
  await early.clock.advance(0);
  expect(early.looked).toEqual([]);
  await early.intake[Symbol.asyncDispose]();

  const late = world();
  const looking = deferred<void>();
  late.state.looking = looking.promise;
  late.intake.said(late.said(snowflakeAt(late.clock.now())));
  late.intake.said(late.said(snowflakeAt(late.clock.now() + 1)));
  await late.clock.advance(0);
  let closed = false;
  const closing = Promise.resolve(late.intake[Symbol.asyncDispose]()).then(() => (closed = true));
  await late.clock.advance(0);
  expect(closed).toBe(false); // it waits for the one that is looked at
  looking.resolve();
  await closing;
  expect(late.looked).toHaveLength(1);
});

test("a message that comes again is looked at once, as long as it is among the newest five thousand", async () => {
  const at = world();
  const id = (n: number): string => String(BigInt(snowflakeAt(at.clock.now())) + BigInt(n));
  const hear = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n++) at.intake.said(at.said(id(n), { channel_id: String(n % 100) }));
    await at.clock.advance(0);
  };
  for (let from = 0; from < 5_000; from += 1_000) await hear(from, from + 1_000);
  await hear(0, 1);
  expect(at.looked).toHaveLength(5_000);
  await hear(5_000, 5_001);
  await hear(0, 1);
  expect(at.looked).toHaveLength(5_002);
  await at.intake[Symbol.asyncDispose]();
});
