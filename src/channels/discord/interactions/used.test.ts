/** A command or a button of Discord that somebody used: what the gateway is asked, field by field, and what the person is answered. */
import { expect, test } from "bun:test";
import type { APIInteraction } from "discord-api-types/v10";
import type { InboundMessage } from "../../../contracts/chat.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { createPlaces } from "../inbound/threads.ts";
import { snowflakeAt } from "../settings.ts";
import { createInteractions, type InteractionDeps } from "./interactions.ts";
import { createReplays } from "./replays.ts";

const NEVER = new AbortController().signal;
const FRIDA = { id: "900000000000000002", username: "frida", global_name: "Frida" };
const OTTO = { id: "900000000000000003", username: "otto", global_name: null };
const HERE = { channel: "discord", account: "default", chat: "1" };
const sender = (user: typeof FRIDA | typeof OTTO) => ({
  principal: `discord:user:${user.id}`,
  name: user.global_name ?? user.username,
});

interface Played {
  readonly receipt?: unknown;
  readonly verdict?: unknown;
  readonly outcome?: "decided" | "over" | "not_allowed";
}

function world({ receipt, verdict, outcome = "decided" }: Played = {}) {
  const clock = createFakeClock();
  const asked: unknown[] = [];
  const expected: unknown[] = [];
  const interactions = createInteractions({
    clock,
    places: createPlaces(),
    replays: { take: async () => "first" },
    applicationId: () => "77",
    previews: { expect: (...of: readonly unknown[]) => void expected.push(of) },
    door: {
      look: async (arrival: unknown) => (asked.push(["look", arrival]), { kind: "come", role: "member" }),
      receive: async (message: InboundMessage) => {
        asked.push(["receive", message]);
        return receipt ?? { kind: "queued", id: "in_1", sessionKey: "s", position: 0 };
      },
    } as unknown as InteractionDeps["door"],
    approvals: { decide: async (press) => (asked.push(["decide", press]), outcome) },
    questions: {
      answer: () => ({ kind: "taken", say: "" }),
      answerAnywhere: async (...given) => (
        asked.push(["answer", ...given]),
        (verdict ?? { kind: "taken", say: "" }) as never
      ),
    },
  });
  const use = (type: number, data: object, more: object = {}) =>
    interactions.handle(
      {
        id: snowflakeAt(clock.now()),
        type,
        application_id: "77",
        data,
        user: FRIDA,
        channel: { id: "1" },
        message: { id: "5" },
        ...more,
      } as unknown as APIInteraction,
      NEVER,
    );
  const command = (options: readonly object[] = [], more: object = {}) =>
    use(2, { type: 1, name: "ask", options }, more);
  const press = (custom_id: string, more: object = {}) => use(3, { custom_id }, more);
  return { clock, asked, expected, use, command, press };
}

test("a command in a direct chat is a message of its person, in each of its fields", async () => {
  const at = world();
  const words = [
    { name: "other", value: "no" },
    { name: "text", value: "  now  " },
  ];
  expect(await at.command(words)).toEqual({ kind: "whisper", text: "Got it." });
  const from = { address: HERE, sender: sender(FRIDA), mentioned: true, scope: "dm" };
  expect(at.asked).toEqual([
    ["look", { ...from, kind: "message" }],
    [
      "receive",
      {
        ...from,
        eventId: snowflakeAt(at.clock.now()),
        fingerprint: expect.any(String),
        text: "/ask now",
        quoted: [],
        attachments: [],
        receivedAt: at.clock.now(),
      },
    ],
  ]);
});

test("a command in a server is of the member who used it, and of that server", async () => {
  const at = world();
  await at.command([], { member: { user: OTTO }, guild_id: "88" });
  const from = { address: HERE, sender: sender(OTTO), mentioned: true, scope: "group", place: "88" };
  expect(at.asked[0]).toEqual(["look", { ...from, kind: "message" }]);
});

test.each([
  ["a bot", { user: { ...FRIDA, bot: true } }],
  ["nobody", { user: undefined }],
  ["somewhere unknown", { channel: undefined }],
])("a command of %s is not looked at", async (_who, more) => {
  const at = world();
  expect([await at.command([], more), at.asked]).toEqual([{ kind: "nothing" }, []]);
});

test.each([
  [
    "refused with words",
    { kind: "refused", because: "too_long", say: "Too long." },
    { kind: "whisper", text: "Too long." },
  ],
  ["refused without", { kind: "refused", because: "ignored", say: "" }, { kind: "nothing" }],
  ["known already", { kind: "duplicate", id: "in_1" }, { kind: "whisper", text: "Got it." }],
])("a command that is %s is answered so, and no turn is shown for it", async (_how, receipt, answer) => {
  const at = world({ receipt });
  expect([await at.command(), at.expected]).toEqual([answer as never, []]);
});

test("a command that is used on a person or a message is none of ours", async () => {
  const at = world();
  for (const type of [2, 3]) expect(await at.use(2, { type, name: "ask" })).toEqual({ kind: "nothing" });
  expect(at.asked.filter((one) => (one as unknown[])[0] === "receive")).toEqual([]);
});

test.each([
  ["taken", { kind: "taken", say: "" }, { kind: "noted" }],
  ["over", { kind: "refused", because: "over", say: "Over." }, { kind: "replace", text: "Over." }],
  ["not theirs", { kind: "refused", because: "not_yours", say: "Not yours." }, { kind: "whisper", text: "Not yours." }],
])("a button of a question whose press is %s is answered so", async (_how, verdict, answer) => {
  const at = world({ verdict });
  expect(await at.press("ask:12:question_1")).toEqual(answer as never);
  const by = { principal: sender(FRIDA).principal, role: "member", at: HERE };
  expect(at.asked).toEqual([
    ["look", { address: HERE, sender: sender(FRIDA), mentioned: true, scope: "dm", kind: "action" }],
    ["answer", "question_1", { kind: "press", at: 12 }, by],
  ]);
});

test.each([
  ["decided", { kind: "replace", text: "Denied by Frida." }],
  ["over", { kind: "replace", text: expect.stringContaining("not open any more") }],
  ["not_allowed", { kind: "whisper", text: "Only an owner can decide that." }],
] as const)("a button of an approval whose press is %s is answered so", async (outcome, answer) => {
  const at = world({ outcome });
  expect(await at.press("approval:deny:ask:12345678")).toEqual(answer as never);
  const from = { address: HERE, sender: sender(FRIDA), mentioned: true, scope: "dm" };
  const decide = { approval: "ask:12345678", decision: "deny", messageId: "5", by: from, role: "member" };
  expect(at.asked[1]).toEqual(["decide", decide]);
});

test.each(["other:deny:ask_1", "approval:maybe:ask_1", "approval:deny:", "ask:1:short", "ask:123:question_1", ""])(
  "a button %p belongs to something else, and nothing is decided by it",
  async (id) => {
    const at = world();
    expect([await at.press(id), at.asked.length]).toEqual([{ kind: "nothing" }, 1]);
  },
);

test("an interaction counts once for a quarter of an hour, up to its last millisecond, and not at all after that", async () => {
  const clock = createFakeClock();
  const kept = new Map<string, string>();
  const facts = {
    get: async (key: string) => kept.get(key) ?? null,
    put: async (key: string, value: string) => void kept.set(key, value),
    forget: async () => undefined,
    list: async () => [],
  };
  const replays = createReplays({ clock, facts });
  const border = snowflakeAt(clock.now() - 900_000);
  const older = snowflakeAt(clock.now() - 900_001);
  const newest = snowflakeAt(clock.now());
  expect([await replays.take(older), await replays.take(border), await replays.take(border)]).toEqual([
    "again",
    "first",
    "again",
  ]);
  expect(await replays.take(newest)).toBe("first");
  expect(JSON.parse(kept.get("interactions") ?? "")).toEqual([border, newest]);
  await clock.advance(1);
  await replays.take(snowflakeAt(clock.now()));
  expect(JSON.parse(kept.get("interactions") ?? "")).not.toContain(border);
});
