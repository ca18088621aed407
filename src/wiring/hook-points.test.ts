/** Replies pass the plugins that check them: an answer that cannot be read counts as a failed check. */
import { expect, test } from "bun:test";
import type { Channel, Receiver } from "../contracts/channel.ts";
import type { Batch, Queue, TurnEnd } from "../contracts/queue.ts";
import { createEvents } from "../observe/index.ts";
import type { HookHandler } from "../contracts/plugins/hooks.ts";
import { createHooks } from "../plugins/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { askBeforeSending, tellReceived, tellSent, tellTurns } from "./hook-points.ts";

/** What the chat gets for the reply "the key is 1234" once a plugin has answered. */
async function sent(answer: unknown): Promise<string> {
  const [clock, log] = [createFakeClock(), recordingLog()];
  const hooks = createHooks({ clock, log });
  hooks.on("message_sending", (() => answer) as HookHandler<"message_sending">, "masker");
  const ends: TurnEnd[] = [];
  const batch = {
    sessionKey: "s",
    entries: [{ message: { address: {} } }],
    finish: async (end: TurnEnd) => void ends.push(end),
  };
  const queue = { take: async () => batch as unknown as Batch } as unknown as Queue;
  const taken = await askBeforeSending({ clock, log, hooks }, queue).take(new AbortController().signal);
  const part = { message: { kind: "reply", text: "the key is 1234" } };
  await taken.finish({ reply: [part] } as unknown as TurnEnd);
  const message = ends[0]?.reply[0]?.message;
  return message && "text" in message ? message.text : "nothing";
}

test.each([undefined, null, {}])("a reply that a plugin leaves alone (%p) is sent as it is", async (answer) => {
  expect(await sent(answer)).toBe("the key is 1234");
});

test("a reply that a plugin rewrites is sent as rewritten", async () => {
  expect(await sent({ text: "the key is hidden" })).toBe("the key is hidden");
});

test.each([{ txt: "hidden" }, { text: 5 }, "hidden", false, { text: "hidden", block: true }])(
  "a reply is held back when a plugin answers %p, which cannot be read",
  async (answer) => {
    expect(await sent(answer)).toBe("The reply was held back because the plugin masker could not check it.");
  },
);

test("plugins are asked once about a reply, however often the store is tried, and about replies to commands too", async () => {
  const [clock, log] = [createFakeClock(), recordingLog()];
  const hooks = createHooks({ clock, log });
  let asked = 0;
  hooks.on("message_sending", () => void asked++, "counter");
  let full = true;
  const batch = {
    ...{ sessionKey: "s", entries: [{ message: { address: {} } }] },
    finish: async () => (full ? Promise.reject(new Error("the disk is full")) : undefined),
  };
  const take = async () => batch as unknown as Batch;
  const queue = askBeforeSending({ clock, log, hooks }, { take, takeCommand: take } as unknown as Queue);
  const end = { reply: [{ message: { kind: "reply", text: "hello" } }] } as unknown as TurnEnd;
  for (const way of ["take", "takeCommand"] as const) {
    asked = 0;
    full = true;
    const taken = await queue[way](new AbortController().signal);
    await expect(taken.finish(end)).rejects.toThrow("the disk is full");
    full = false;
    await taken.finish(end);
    expect([way, asked]).toEqual([way, 1]);
  }
});

/** Names of what plugins are told, in order. */
function listening() {
  const [clock, log] = [createFakeClock(), recordingLog()];
  const hooks = createHooks({ clock, log });
  const told: string[] = [];
  for (const name of ["message_received", "message_sent", "session_start", "before_agent_start"] as const)
    hooks.on(name, () => void told.push(name), "watcher");
  return { clock, log, hooks, told };
}

test.each([
  ["queued", ["message_received"]],
  ["duplicate", []],
  ["refused", []],
])("plugins hear of a message that was %s: %j", async (kind, expected) => {
  const { clock, hooks, told } = listening();
  const receiver = tellReceived({ hooks }, { receive: async () => ({ kind }) } as unknown as Receiver);
  await receiver.receive({ address: {}, text: "hi", sender: {}, quoted: [] } as never, new AbortController().signal);
  await clock.advance(0);
  expect(told).toEqual(expected as string[]);
});

test("plugins hear of a reply that was sent, and not of one that was not", async () => {
  const { clock, hooks, told } = listening();
  let fails = true;
  const send = () => (fails ? Promise.reject(new Error("cut")) : Promise.resolve({}));
  const channel = tellSent({ hooks })({ send } as unknown as Channel);
  const part = {} as Parameters<Channel["send"]>[0];
  await expect(channel.send(part, new AbortController().signal)).rejects.toThrow("cut");
  await clock.advance(0);
  expect(told).toEqual([]);
  fails = false;
  await channel.send(part, new AbortController().signal);
  await clock.advance(0);
  expect(told).toEqual(["message_sent"]);
});

test("plugins hear once that a session starts, and of every attempt", async () => {
  const { clock, log, hooks, told } = listening();
  const events = createEvents({ log });
  tellTurns({ hooks }, events);
  const turn = { sessionKey: "agent:default:webchat:dm:1", turnId: "t", inboxIds: [], waitedMs: 0 };
  for (const attempt of [1, 2]) events.emit("turn.started", { ...turn, attempt } as never);
  await clock.advance(0);
  expect(told.toSorted()).toEqual(["before_agent_start", "before_agent_start", "session_start"]);
});
