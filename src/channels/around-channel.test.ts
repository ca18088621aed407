/** Everything that stands around a channel hands on each call as it came: its arguments, its signal, what it answers, and how it fails. */
import { describe, expect, test } from "bun:test";
import { type Channel, SendError } from "../contracts/channel.ts";
import type { OpenChannel, PlatformDeps } from "../contracts/channels/platform.ts";
import type { OutboxRow } from "../contracts/delivery.ts";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import { silentLog } from "../kit/log.ts";
import { NO_MASK } from "../kit/secret.ts";
import { createChannelRegistry } from "./channel-registry.ts";
import { maskOut } from "./mask-out.ts";
import { fenced } from "./plugin-platform.ts";
import { createSwitchboard } from "./switchboard.ts";

const NEVER = new AbortController().signal;
const to = { channel: "x", account: "one", chat: "c" };
const sessionKey = "agent:default:x:dm:c" as SessionKey;
const part = { id: "turn_1:0", to, message: { kind: "reply", text: "words" } } as OutboxRow;
const target = { to, sessionKey, messageId: "5" };
const question = { id: "q", to, of: "x:user:1" as Principal, sessionKey, text: "Well?", labels: ["yes"] };

type Call = (channel: Channel, signal: AbortSignal) => Promise<unknown> | undefined;

/** Every call that waits for a platform, with what the channel is to be given before the signal. */
const CALLS: Readonly<Record<string, readonly [Call, readonly unknown[]]>> = {
  send: [(channel, signal) => channel.send(part, signal), [part]],
  "messages.delivered": [(channel, signal) => channel.messages?.delivered(part, signal), [part]],
  "messages.skip": [(channel, signal) => channel.messages?.skip(part, signal), [part]],
  react: [
    (channel, signal) => channel.react?.(target, { emoji: ["👍"], remove: true }, signal),
    [target, { emoji: ["👍"], remove: true }],
  ],
  edit: [(channel, signal) => channel.edit?.(target, "new words", signal), [target, "new words"]],
  delete: [(channel, signal) => channel.delete?.(target, signal), [target]],
  pin: [(channel, signal) => channel.pin?.(target, true, signal), [target, true]],
  "questions.show": [(channel, signal) => channel.questions?.show(question, signal), [question]],
};

const WRAPPERS: Readonly<Record<string, (channel: OpenChannel) => Promise<Channel | undefined>>> = {
  "the mask of secrets": async (channel) => maskOut({ mask: NO_MASK }, channel),
  "the switchboard of accounts": async (channel) => createSwitchboard("x", [channel], null),
  "the fence around a plugin": async (channel) =>
    (await fenced({ id: "x", open: async () => [channel] }).open({ log: silentLog } as PlatformDeps, NEVER))[0],
  "the registry": async (channel) => {
    const registry = createChannelRegistry();
    registry.register(channel);
    return registry.get("x");
  },
};

/** Answers each call with an object of its own, or fails with this error. */
function recording(failure: Error | null = null) {
  const calls: unknown[][] = [];
  const answers = new Map<string, object>();
  const answering = (name: string) =>
    async function answer(...given: unknown[]): Promise<never> {
      calls.push([name, ...given]);
      if (failure) throw failure;
      const made = { kind: "done", name };
      answers.set(name, made);
      return made as never;
    };
  const channel: OpenChannel = {
    id: "x",
    account: "one",
    canRefuse: true,
    repeat: "deduplicated",
    dedupeMs: 7,
    whenLost: "hold",
    ready: (where) => where?.chat === "c",
    health: () => ({ ok: true, detail: "well" }),
    send: answering("send"),
    messages: { delivered: answering("messages.delivered"), skip: answering("messages.skip") },
    react: answering("react"),
    edit: answering("edit"),
    delete: answering("delete"),
    pin: answering("pin"),
    questions: { maxButtons: 5, maxLabelChars: 20, show: answering("questions.show") },
    async [Symbol.asyncDispose]() {},
  };
  return { channel, calls, answers };
}

const PAIRS = Object.keys(WRAPPERS).flatMap((wrapper) => Object.keys(CALLS).map((call) => [wrapper, call] as const));

describe("a call of a channel", () => {
  test.each(PAIRS)("through %s hands on everything of %s", async (wrapper, name) => {
    const { channel, calls, answers } = recording();
    const wrapped = await WRAPPERS[wrapper]?.(channel);
    const [call, given] = CALLS[name] ?? [];
    if (!wrapped || !call || !given) throw new Error("nothing to call");
    const { signal } = new AbortController();
    const answer = await call(wrapped, signal);
    expect(calls).toEqual([[name, ...given, signal]]);
    expect(calls[0]?.at(-1)).toBe(signal);
    expect(answer).toBe(answers.get(name));
  });

  test.each(PAIRS)("through %s fails as %s failed", async (wrapper, name) => {
    const failure = new SendError("lost", "no answer");
    const wrapped = await WRAPPERS[wrapper]?.(recording(failure).channel);
    const call = CALLS[name]?.[0];
    if (!wrapped || !call) throw new Error("nothing to call");
    expect(await call(wrapped, NEVER)?.catch((error: unknown) => error)).toBe(failure);
  });
});

test("the fence around a plugin hands on requests to its webhook, with their signal", async () => {
  const given: unknown[] = [];
  const handle = async (...request: unknown[]) => (given.push(...request), { status: 204 });
  const channel: OpenChannel = { ...recording().channel, webhook: { path: "/x/in", handle } };
  const [fence] = await fenced({ id: "x", open: async () => [channel] }).open(
    { log: silentLog } as PlatformDeps,
    NEVER,
  );
  const request = { headers: new Headers(), body: new Uint8Array() };
  expect(fence?.webhook?.path).toBe("/x/in");
  expect(await fence?.webhook?.handle(request as never, NEVER)).toEqual({ status: 204 });
  expect([given[0] === request, given[1] === NEVER]).toEqual([true, true]);
});

describe.each(Object.keys(WRAPPERS))("%s", (wrapper) => {
  test("says of a channel what it says of itself", async () => {
    const wrapped = await WRAPPERS[wrapper]?.(recording().channel);
    if (!wrapped) throw new Error("nothing to look at");
    const { id, canRefuse, repeat, dedupeMs, whenLost, questions } = wrapped;
    expect([id, canRefuse, repeat, dedupeMs, whenLost]).toEqual(["x", true, "deduplicated", 7, "hold"]);
    expect([questions?.maxButtons, questions?.maxLabelChars]).toEqual([5, 20]);
    expect([wrapped.ready(to), wrapped.ready({ ...to, chat: "d" })]).toEqual([true, false]);
    expect(wrapped.health()).toMatchObject({ ok: true, detail: "well" });
  });

  test("gives a channel no ability that it does not have", async () => {
    const { id, account, canRefuse, repeat, ready, health, send, [Symbol.asyncDispose]: dispose } = recording().channel;
    const bare = { id, account, canRefuse, repeat, ready, health, send, [Symbol.asyncDispose]: dispose };
    const wrapped = await WRAPPERS[wrapper]?.(bare);
    const { messages, react, edit, delete: remove, pin, questions, dedupeMs, whenLost } = wrapped ?? {};
    expect([messages, react, edit, remove, pin, questions, dedupeMs, whenLost]).toEqual(Array(8).fill(undefined));
  });
});
