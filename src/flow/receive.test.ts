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
