import { describe, expect, test } from "bun:test";
import type { Accepted, Queue } from "../contracts/queue.ts";
import type { AgentId, InboxId, MediaId, Principal } from "../contracts/ids.ts";
import { createEvents } from "../observe/index.ts";
import { createRouter } from "../routing/index.ts";
import { inbound } from "../testing/messages.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { routingConfig } from "../testing/routing-config.ts";
import { quietReceiver } from "../testing/worlds/quiet-receiver.ts";

const never = new AbortController().signal;

function fixture(answer: Accepted, stopping = never) {
  const offered: string[] = [];
  const announced: string[] = [];
  const log = recordingLog();
  const events = createEvents({ log });
  events.on("message", ({ item }) => announced.push(item.text));
  const queue = {
    accept: async ({ message }: { message: { text: string } }) => {
      offered.push(message.text);
      return answer;
    },
  } as unknown as Queue;
  const told: string[] = [];
  const hooks = { tell: (name: string) => void told.push(name) };
  const receiver = quietReceiver(
    { log, events, queue, hooks, router: createRouter(() => routingConfig()) },
    { maxMessageChars: 10 },
    stopping,
  );
  return { offered, announced, told, receive: (message = inbound("hello")) => receiver.receive(message, never) };
}
const queued: Accepted = { kind: "queued", id: "msg_1" as InboxId, position: 0 };

describe("a message that arrives", () => {
  test("is shown to everyone who watches once it is stored, and its sender is told", async () => {
    const fx = fixture(queued);
    expect(await fx.receive()).toMatchObject({ kind: "queued", id: "msg_1", sessionKey: "agent:default:webchat:dm:1" });
    expect(fx.announced).toEqual(["hello"]);
  });

  test.each([
    ["empty", inbound("  \n ")],
    ["too_long", inbound("x".repeat(11))],
    ["unknown_agent", inbound("hello", { agentId: "nobody" as AgentId })],
    ["not_allowed", inbound("hello", { sender: { principal: "telegram:user:1" as Principal, name: "operator" } })],
  ] as const)("is refused with a sentence before it is stored: %s", async (because, message) => {
    const fx = fixture(queued);
    const receipt = await fx.receive(message);
    expect(receipt).toMatchObject({ kind: "refused", because });
    expect(receipt.kind === "refused" && receipt.say.length > 10).toBe(true);
    expect([fx.offered, fx.announced]).toEqual([[], []]);
  });

  test("is taken without words of its own when it has a file or quotes something", async () => {
    const file = { mediaId: "m1" as MediaId, name: "a.png", mimeType: "image/png", bytes: 1 };
    const quoted = { how: "forward", author: { id: null, name: "Ann" }, text: "hi" } as const;
    const fx = fixture(queued);
    for (const more of [{ attachments: [file] }, { quoted: [quoted] }])
      expect(await fx.receive(inbound("", more))).toMatchObject({ kind: "queued" });
  });

  test("is taken at the greatest length, and texts that it quotes count with it", async () => {
    const quoted = (text: string) =>
      inbound("x".repeat(5), { quoted: [{ how: "forward", author: { id: null, name: "Ann" }, text }] });
    const fx = fixture(queued);
    for (const message of [inbound("x".repeat(10)), quoted("y".repeat(5))])
      expect(await fx.receive(message)).toMatchObject({ kind: "queued" });
    expect(await fx.receive(quoted("y".repeat(6)))).toMatchObject({ kind: "refused", because: "too_long" });
  });

  test.each<[string, Accepted, readonly string[]]>([
    ["stored", queued, ["message_received"]],
    ["stored before", { kind: "duplicate", id: "msg_1" as InboxId, fingerprint: "" }, []],
    ["refused because too many wait", { kind: "full", because: "session", retryAfterMs: 1 }, []],
  ])("is told to plugins when it was %s: %j", async (_what, answer, expected) => {
    const fx = fixture(answer);
    await fx.receive();
    expect(fx.told).toEqual([...expected]);
  });

  test("from a group that does not mean us is ignored, and nobody is answered", async () => {
    const fx = fixture(queued);
    const sender = { principal: "telegram:user:1" as Principal, name: "somebody" };
    const said = inbound("hello", { scope: "group", sender, mentioned: false });
    expect(await fx.receive(said)).toMatchObject({ kind: "refused", because: "ignored" });
    expect([fx.offered, fx.announced]).toEqual([[], []]);
  });

  test("is refused while the gateway stops", async () => {
    expect(await fixture(queued, AbortSignal.abort()).receive()).toMatchObject({
      kind: "refused",
      because: "stopping",
    });
  });

  test("is refused with a time to come back when too many wait, and nobody is shown it", async () => {
    const fx = fixture({ kind: "full", because: "session", retryAfterMs: 2_000 });
    expect(await fx.receive()).toMatchObject({ kind: "refused", because: "session_full", retryAfterMs: 2_000 });
    expect(fx.announced).toEqual([]);
  });

  test("is announced once: a repeat only gets the old id, and a different text under the same id is noticed", async () => {
    const fx = fixture({ kind: "duplicate", id: "msg_1" as InboxId, fingerprint: "print of hello" });
    expect(await fx.receive(inbound("hello"))).toMatchObject({ kind: "duplicate", id: "msg_1", sameContent: true });
    expect(await fx.receive(inbound("other"))).toMatchObject({ kind: "duplicate", id: "msg_1", sameContent: false });
    expect(fx.announced).toEqual([]);
  });
});

describe("a message that was taken", () => {
  const file = { mediaId: "m1" as MediaId, name: "a.png", mimeType: "image/png", bytes: 1 };
  const quoted = [{ how: "forward", author: { id: null, name: "Ann" }, text: "hi" }] as const;

  function told(over: Partial<Parameters<typeof quietReceiver>[0]> = {}, stopping = never) {
    const log = recordingLog();
    const items: unknown[] = [];
    const hooks: unknown[] = [];
    const entries: unknown[] = [];
    const events = createEvents({ log });
    events.on("message", (data) => void items.push(data));
    const queue = { accept: async (entry: unknown) => (entries.push(entry), queued) } as unknown as Queue;
    const tell = (...given: unknown[]) => void hooks.push(given);
    const receiver = quietReceiver(
      { log, events, queue, hooks: { tell }, router: createRouter(() => routingConfig()), ...over },
      { maxMessageChars: 100 },
      stopping,
    );
    return { log, items, hooks, entries, receiver };
  }

  test("is told to clients in each of its fields, and to plugins with all of its words", async () => {
    const at = told();
    const message = inbound("hello", { attachments: [file], quoted });
    await at.receiver.receive(message, never);
    const sessionKey = "agent:default:webchat:dm:1";
    const about = { id: "msg_1", inboxId: "msg_1", role: "user", turnId: null };
    expect(at.items).toEqual([
      {
        sessionKey,
        item: { ...about, text: expect.stringContaining("hello"), attachments: [file], at: message.receivedAt },
      },
    ]);
    const { principal } = message.sender;
    const text = expect.stringMatching(/hi[\s\S]*hello|hello[\s\S]*hi/) as unknown;
    expect(at.hooks).toEqual([["message_received", { sessionKey, principal, from: message.address, text }]]);
  });

  test("is told with where it comes from when the gateway itself has put it there, and is not put while it stops", async () => {
    const entry = (origin: "cron" | "chat") =>
      ({
        sessionKey: "s",
        agentId: "default",
        role: "owner",
        priority: 0,
        message: inbound("wake", { origin }),
      }) as never;
    const at = told();
    await at.receiver.put(entry("cron"), never);
    await at.receiver.put(entry("chat"), never);
    expect(at.items.map((data) => (data as { item: { origin?: string } }).item.origin)).toEqual(["cron", undefined]);
    expect(at.hooks).toEqual([]);
    const late = told({}, AbortSignal.abort());
    expect(await late.receiver.put(entry("cron"), never)).toMatchObject({ kind: "refused", because: "stopping" });
    expect(late.entries).toEqual([]);
  });

  test.each([
    ["cannot refuse", { canRefuse: false }, "keep"],
    ["can refuse", { canRefuse: true }, "refuse"],
    ["is not there", undefined, "refuse"],
  ] as const)(
    "is offered with what to do when the queue is full, by a channel that %s",
    async (_which, channel, whenFull) => {
      const at = told({ channels: { get: () => channel } });
      await at.receiver.receive(inbound("hello"), never);
      expect(at.entries).toMatchObject([{ whenFull }]);
    },
  );

  test("as the answer to a question is that alone: nobody else is told, and nothing is queued", async () => {
    const questions = { pending: () => [{}], hearAnywhere: async () => ({ kind: "taken", say: "" }) } as never;
    const at = told({ questions });
    const message = inbound("yes", { answering: { to: null, text: "yes" } });
    await at.receiver.receiveChat(message, never);
    expect([at.items, at.entries]).toEqual([[], []]);
  });

  test("by no agent, because its sender may not write, is a warning in the log; in a group that means somebody else it is none", async () => {
    const at = told();
    const sender = { principal: "telegram:user:1" as Principal, name: "x" };
    await at.receiver.receive(inbound("hello", { sender }), never);
    await at.receiver.receive(inbound("hello", { sender, scope: "group", mentioned: false }), never);
    const refused = at.log.lines.filter(({ words }) => words === "message refused");
    expect(refused.map(({ level }) => level)).toEqual(["warn", "debug"]);
  });
});
