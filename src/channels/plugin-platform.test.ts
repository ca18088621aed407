/** A channel that a plugin brings: it gets what the built-in ones get, and what it does wrong stays with it. */
import { describe, expect, test } from "bun:test";
import type { InboundMessage } from "../contracts/chat.ts";
import type { Config } from "../config/index.ts";
import { SendError } from "../contracts/channel.ts";
import type { PluginChannelDeps } from "../contracts/channels/channel-kit.ts";
import type { OpenChannel, PlatformDeps } from "../contracts/channels/platform.ts";
import type { AskedQuestion } from "../contracts/channels/question.ts";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import type { PendingApproval } from "../contracts/tools/approval.ts";
import { channelBench } from "../testing/channels/channel-bench.ts";
import { inbound } from "../testing/messages.ts";
import { fenced, type PluginPlatform } from "./plugin-platform.ts";
import { createPlatforms, OPEN_MS } from "./open-platforms.ts";

const NEVER = new AbortController().signal;
const CONFIG = {} as Config;
const HERE = { channel: "pigeon", account: "main", chat: "1" };

function pigeon(more: Partial<OpenChannel> = {}): OpenChannel {
  return {
    id: "pigeon",
    account: "main",
    canRefuse: false,
    repeat: "risky",
    send: async () => ({ providerId: "p1" }),
    ready: () => true,
    health: () => ({ ok: true, detail: "flies" }),
    [Symbol.asyncDispose]: async () => undefined,
    ...more,
  };
}

const pluginPlatform = (more: Partial<PluginPlatform> = {}): PluginPlatform => ({
  id: "pigeon",
  open: async () => [pigeon()],
  ...more,
});

async function world() {
  const bench = await channelBench();
  const platforms = createPlatforms(
    bench.deps,
    [{ id: "telegram", settings: () => null, load: () => Promise.reject(new Error("off")) }],
    { isTaken: (id) => id === "webchat" },
  );
  const settle = () => bench.clock.advance(0);
  /** The services of the platform, once it is open. */
  const openedWith = async (more: Partial<PluginPlatform> = {}): Promise<PlatformDeps> => {
    const opened = Promise.withResolvers<PlatformDeps>();
    platforms.add(
      pluginPlatform({
        async open(deps) {
          opened.resolve(deps);
          return [pigeon()];
        },
        ...more,
      }),
    );
    await platforms.apply(CONFIG);
    return opened.promise;
  };
  return {
    bench,
    platforms,
    settle,
    openedWith,
    async [Symbol.asyncDispose]() {
      await platforms[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

const said = (more: Parameters<typeof inbound>[1] = {}) =>
  inbound("coo", { address: HERE, sender: { principal: "pigeon:user:7" as Principal, name: "Pip" }, ...more });

describe("a plugin's channel", () => {
  test("is opened with the rest and not before, and is gone when its plugin goes", async () => {
    await using w = await world();
    const closed: string[] = [];
    const opened: string[] = [];
    const channel = pigeon({ [Symbol.asyncDispose]: async () => void closed.push("pigeon") });
    const added = w.platforms.add(
      pluginPlatform({
        async open() {
          opened.push("pigeon");
          return [channel];
        },
      }),
    );
    await w.settle();
    expect(opened).toEqual([]);
    await w.platforms.apply(CONFIG);
    await w.settle();
    expect(w.platforms.health()).toEqual([{ id: "pigeon", ok: true, detail: "flies" }]);
    expect(w.platforms.channel("pigeon")?.ready(HERE)).toBe(true);
    await added[Symbol.asyncDispose]();
    expect(closed).toEqual(["pigeon"]);
    expect(w.platforms.channel("pigeon")).toBeUndefined();
    w.platforms.add(pluginPlatform());
    await w.settle();
    expect(w.platforms.channel("pigeon")?.ready(HERE)).toBe(true);
  });

  test("cannot take the name of another, and none that is no name", async () => {
    await using w = await world();
    for (const id of ["telegram", "webchat"])
      expect(() => w.platforms.add(pluginPlatform({ id }))).toThrow(`There is a channel called ${id} already.`);
    for (const id of ["Pigeon", "a b", "", "a:user"])
      expect(() => w.platforms.add(pluginPlatform({ id }))).toThrow("is no id for a channel");
    expect(() => w.platforms.add(pluginPlatform({ id: "X".repeat(41) }))).toThrow(`"${"X".repeat(40)}" is no id`);
    expect(() => w.platforms.add(pluginPlatform({ open: undefined as never }))).toThrow("has no open function");
    w.platforms.add(pluginPlatform());
    expect(() => w.platforms.add(pluginPlatform())).toThrow("already");
  });

  test("gives strangers a code and opens no group, unless it says otherwise in words that can be read", async () => {
    await using w = await world();
    w.platforms.add(pluginPlatform());
    w.platforms.add(pluginPlatform({ id: "owl", access: { groups: { forest: { allowFrom: ["owl:user:1"] } } } }));
    expect(w.platforms.access()["pigeon"]).toEqual({ dmPolicy: "pairing", groupPolicy: "allowlist" });
    expect(w.platforms.access()["owl"]).toMatchObject({ dmPolicy: "pairing", groups: { forest: {} } });
    const unreadable: readonly object[] = [
      { dmPolicy: "Open" },
      { groupPolicy: "everybody" },
      { allowFrom: "*" },
      { groups: { a: { role: "king" } } },
      { accounts: { b: { dmPolicy: 1 } } },
      { groupContext: { messages: -1, minutes: 0, chars: 0 } },
      { wakeOnReaction: "yes" },
    ];
    const none = { groupContext: { messages: 0, minutes: 0, chars: 0 }, wakeOnReaction: false };
    w.platforms.add(pluginPlatform({ id: "wren", access: none }));
    expect(w.platforms.access()["wren"]).toMatchObject(none);
    for (const access of unreadable)
      expect(() => w.platforms.add(pluginPlatform({ id: "crow", access }))).toThrow("cannot be read");
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["no list", {}],
    ["no author", [{ how: "forward", text: "x" }]],
    ["an unknown kind", [{ how: "spoken", author: { id: null, name: "" }, text: "x" }]],
  ])("that says %s about whose words a message holds cannot hand it in", async (_what, quoted) => {
    await using w = await world();
    const { door } = await w.openedWith();
    const message = { ...said(), quoted } as unknown as InboundMessage;
    await expect(door.receive(message, NEVER)).rejects.toMatchObject({ code: "plugin_invalid" });
  });

  test("speaks for its own people in its own chats, and for nobody else", async () => {
    await using w = await world();
    const { door, facts } = await w.openedWith();
    expect((await door.receive(said(), NEVER)).kind).toBe("queued");
    const forged = [
      said({ address: { ...HERE, channel: "telegram" } }),
      said({ sender: { principal: "operator" as Principal, name: "Pip" } }),
      said({ sender: { principal: "telegram:user:7" as Principal, name: "Pip" } }),
    ];
    for (const message of forged) {
      await expect(door.receive(message, NEVER)).rejects.toMatchObject({ code: "plugin_invalid" });
      await expect(door.look({ ...message, kind: "message" })).rejects.toMatchObject({ code: "plugin_invalid" });
    }
    expect(w.bench.stored).toHaveLength(1);
    await facts.put("pigeon", "main", "seen", "1");
    await expect(facts.list("telegram", "main", "")).rejects.toMatchObject({ code: "plugin_invalid" });
    await expect(facts.put("telegram", "main", "offset", "1")).rejects.toMatchObject({ code: "plugin_invalid" });
  });

  test("is closed when that is over, also one that was opened in vain", async () => {
    const closed: string[] = [];
    const slow = (id: string): OpenChannel => ({
      ...pigeon(),
      id,
      async [Symbol.asyncDispose]() {
        await new Promise((resolve) => setImmediate(resolve));
        closed.push(id);
      },
    });
    await using bench = await channelBench();
    const opening = (id: string) => fenced({ id: "pigeon", open: async () => [slow(id)] }).open(bench.deps, NEVER);
    const [channel] = await opening("pigeon");
    await channel?.[Symbol.asyncDispose]();
    expect(closed).toEqual(["pigeon"]);
    await expect(opening("owl")).rejects.toThrow("a channel called owl");
    expect(closed).toEqual(["pigeon", "owl"]);
  });

  test("hands in messages and approvals with its own signals", async () => {
    const bench = await channelBench();
    const received: AbortSignal[] = [];
    const receive: PlatformDeps["door"]["receive"] = async (_message, signal) => {
      received.push(signal);
      return { kind: "refused", because: "ignored", say: "" };
    };
    let services: PluginChannelDeps | undefined;
    const platform = fenced({ id: "pigeon", open: async (deps) => ((services = deps), [pigeon()]) });
    const [channel] = await platform.open({ ...bench.deps, door: { ...bench.deps.door, receive } }, NEVER);
    const { signal } = new AbortController();
    await services?.door.receive(said(), signal);
    expect([received.length, received[0] === signal]).toEqual([1, true]);
    const posted: AbortSignal[] = [];
    const approvals = services?.kit.startApprovals(
      {
        channel: "pigeon",
        account: "main",
        post: async (_approval, until) => (posted.push(until), "p1"),
        removeButtons: async () => undefined,
        reply: async () => undefined,
        retryAfterMs: () => null,
      },
      signal,
    );
    bench.questions.push({ id: "ask_1", tool: "bash", origin: HERE } as PendingApproval);
    approvals?.open();
    await bench.clock.advance(0);
    expect([posted.length, posted[0] === signal]).toEqual([1, true]);
    approvals?.[Symbol.dispose]();
    await channel?.[Symbol.asyncDispose]();
    expect(bench.listening()).toBe(0);
    await bench[Symbol.asyncDispose]();
  });

  test("may be of any make, and can do what it has a method for", async () => {
    await using w = await world();
    // As a class with private parts would: what is called on anything but the channel itself does not find them.
    const letters = new WeakMap<object, Map<string, string>>();
    const own = (of: object): Map<string, string> => {
      const found = letters.get(of);
      if (!found) throw new TypeError("not a pigeon");
      return found;
    };
    const made = pigeon({
      async send(this: object, part) {
        own(this).set(part.id, part.message.text);
        return { providerId: part.id };
      },
      async edit(this: object, { messageId }, text) {
        own(this).set(messageId, text);
        return { kind: "done" };
      },
      health(this: object) {
        return { ok: true, detail: `${own(this).size} letters` };
      },
    });
    letters.set(made, new Map());
    w.platforms.add(pluginPlatform({ open: async () => [made] }));
    await w.platforms.apply(CONFIG);
    await w.settle();
    const channel = w.platforms.channel("pigeon");
    const [part] = await w.bench.reply(HERE, ["coo"]);
    if (!part) throw new Error("nothing to send");
    expect(await channel?.send(part, NEVER)).toEqual({ providerId: part.id });
    const target = { to: HERE, sessionKey: part.sessionKey, messageId: part.id };
    expect(await channel?.edit?.(target, "coo coo", NEVER)).toEqual({ kind: "done" });
    expect(channel).not.toHaveProperty("delete");
    expect(w.platforms.health()).toEqual([{ id: "pigeon", ok: true, detail: "1 letters" }]);
  });

  test("shows questions with its own buttons, and answers them for its own people only", async () => {
    await using w = await world();
    const shown: string[] = [];
    let given: PlatformDeps | null = null;
    const board = {
      maxButtons: 3,
      maxLabelChars: 20,
      async show(this: object, { text, labels }: AskedQuestion) {
        if (this !== board) throw new TypeError("not a board");
        shown.push([text, ...labels].join("|"));
        return { messageId: "m1", close: async () => undefined };
      },
    };
    const open = async (deps: PlatformDeps) => ((given = deps), [pigeon({ questions: board })]);
    w.platforms.add(pluginPlatform({ open }));
    await w.platforms.apply(CONFIG);
    await w.settle();
    const questions = w.platforms.channel("pigeon")?.questions;
    expect([questions?.maxButtons, questions?.maxLabelChars]).toEqual([3, 20]);
    const of = "pigeon:user:7" as Principal;
    const sessionKey = "agent:default:pigeon:dm:1" as SessionKey;
    const asked: AskedQuestion = { id: "q1", to: HERE, of, sessionKey, text: "Which?", labels: ["tea", "coffee"] };
    expect(await questions?.show(asked, NEVER)).toMatchObject({ messageId: "m1" });
    expect(shown).toEqual(["Which?|tea|coffee"]);
    const answer = (principal: string, channel = "pigeon") => {
      const by = { principal: principal as Principal, role: "member", at: { ...HERE, channel } } as const;
      return (given as PlatformDeps | null)?.questions.answer("q1", { kind: "press", at: 1 }, by);
    };
    expect(answer("pigeon:user:7")?.kind).toBe("taken");
    expect(w.bench.pressed).toEqual(["q1 1 pigeon:user:7 member"]);
    expect(() => answer("telegram:user:7")).toThrow("its own people");
    expect(() => answer("pigeon:user:7", "telegram")).toThrow("its own people");
    const anywhere = (principal: string) =>
      (given as PlatformDeps | null)?.questions.answerAnywhere(
        "q1",
        { kind: "press", at: 1 },
        { principal: principal as Principal, role: "member" },
      );
    expect((await anywhere("pigeon:user:7"))?.kind).toBe("taken");
    await expect(anywhere("telegram:user:7")).rejects.toThrow("its own people");
  });

  test("hears nothing any more once it is closed, whatever it forgot", async () => {
    await using w = await world();
    const heard: string[] = [];
    const added = w.platforms.add(
      pluginPlatform({
        async open({ events }) {
          events.on("status", ({ what }) => heard.push(what));
          return [pigeon()];
        },
      }),
    );
    await w.platforms.apply(CONFIG);
    await w.settle();
    w.bench.deps.events.emit("status", { what: "config" });
    expect(heard).toContain("config");
    await added[Symbol.asyncDispose]();
    const before = heard.length;
    w.bench.deps.events.emit("status", { what: "config" });
    expect(heard.length).toBe(before);
  });
});

describe("a plugin's channel that misbehaves", () => {
  const QUESTIONS = { maxButtons: 0, maxLabelChars: 0, show: async () => ({ messageId: null, close: async () => {} }) };
  const bad: readonly (readonly [string, PluginPlatform["open"], string])[] = [
    ["throws", () => Promise.reject(new Error("no wings")), "no wings"],
    [
      "throws at once",
      () => {
        throw new Error("no nest");
      },
      "no nest",
    ],
    ["gives no list", async () => null as never, "it opened something that is no list of channels"],
    ["opens another's channel", async () => [pigeon({ id: "telegram" })], "it opened a channel called telegram"],
    ["forgets a method", async () => [pigeon({ send: undefined as never })], "it opened a channel without send"],
    [
      "opens one of a long name",
      async () => [pigeon({ id: "x".repeat(41) })],
      `it opened a channel called ${"x".repeat(40)}`,
    ],
    ...[{ maxButtons: -1 }, { maxButtons: 1.5 }, { maxLabelChars: "x" }, { show: undefined }].map(
      (wrong): (typeof bad)[number] => [
        `says ${JSON.stringify(wrong)} about its questions`,
        async () => [pigeon({ questions: { ...QUESTIONS, ...wrong } as never })],
        "it opened a channel whose questions cannot be read",
      ],
    ),
    [
      "takes another's path",
      async () => [pigeon({ webhook: { path: "/telegram/x", handle: async () => ({ status: 200 }) } })],
      "it opened a webhook outside of /pigeon/",
    ],
    [
      "takes the path of a channel whose name begins with its own",
      async () => [pigeon({ webhook: { path: "/pigeon-post/x", handle: async () => ({ status: 200 }) } })],
      "it opened a webhook outside of /pigeon/",
    ],
  ];
  test.each(bad)("%s: its health says so, and the others go on", async (_how, open, detail) => {
    await using w = await world();
    w.platforms.add(pluginPlatform({ open }));
    w.platforms.add({ id: "owl", open: async () => [pigeon({ id: "owl", questions: QUESTIONS })] });
    await w.platforms.apply(CONFIG);
    await w.settle();
    const health = new Map(w.platforms.health().map((one) => [one.id, one]));
    expect(health.get("pigeon")).toEqual({ id: "pigeon", ok: false, detail });
    expect(health.get("owl")).toMatchObject({ ok: true });
  });

  test("by failing to open hears nothing any more", async () => {
    await using w = await world();
    const heard: string[] = [];
    const open: PluginPlatform["open"] = async ({ events }) => {
      events.on("status", ({ what }) => heard.push(what));
      throw new Error("no wings");
    };
    w.platforms.add(pluginPlatform({ open }));
    await w.platforms.apply(CONFIG);
    await w.settle();
    expect(w.platforms.health()).toMatchObject([{ id: "pigeon", ok: false, detail: "no wings" }]);
    heard.length = 0;
    w.bench.deps.events.emit("status", { what: "config" });
    expect(heard).toEqual([]);
  });

  test("by leaving after the stop opens no other channel again", async () => {
    await using w = await world();
    let opened = 0;
    const open = async () => (opened++, [pigeon({ id: "owl" })]);
    w.platforms.add({ id: "owl", open });
    const added = w.platforms.add(pluginPlatform());
    await w.platforms.apply(CONFIG);
    await w.settle();
    await w.platforms[Symbol.asyncDispose]();
    await added[Symbol.asyncDispose]();
    await w.settle();
    expect([opened, w.platforms.channels()]).toEqual([1, []]);
  });

  test("by hanging is given up and tried again; it keeps nobody waiting", async () => {
    await using w = await world();
    w.platforms.add(pluginPlatform({ open: () => new Promise(() => undefined) }));
    w.platforms.add({ id: "owl", open: async () => [pigeon({ id: "owl" })] });
    await w.platforms.apply(CONFIG);
    await w.bench.clock.advance(OPEN_MS);
    expect(w.platforms.health().find(({ id }) => id === "pigeon")?.detail).toBe("not open within 30 s");
    expect(w.platforms.channel("owl")?.ready({ ...HERE, channel: "owl" })).toBe(true);
  });

  test("by throwing where it is only asked is not ready, not well, and closed all the same", async () => {
    await using w = await world();
    const angry = () => {
      throw new Error("peck");
    };
    const added = w.platforms.add(
      pluginPlatform({ open: async () => [pigeon({ ready: angry, health: angry, [Symbol.asyncDispose]: angry })] }),
    );
    await w.platforms.apply(CONFIG);
    await w.settle();
    expect(w.platforms.channel("pigeon")?.ready(HERE)).toBe(false);
    expect(w.platforms.health()).toEqual([{ id: "pigeon", ok: false, detail: "its health is not known" }]);
    await added[Symbol.asyncDispose]();
    expect(w.platforms.health()).toEqual([]);
    expect(w.bench.log.lines.map(({ words }) => words)).toContain("channel did not close cleanly");
  });

  test("says how a send failed with an error of its own making", async () => {
    await using w = await world();
    const failure = Object.assign(new Error("wait a bit"), { name: "SendError", kind: "limited", retryAfterMs: 5 });
    const wrong = Object.assign(new Error("odd"), { name: "SendError", kind: "whatever" });
    let next: Error = failure;
    w.platforms.add(pluginPlatform({ open: async () => [pigeon({ send: () => Promise.reject(next) })] }));
    await w.platforms.apply(CONFIG);
    await w.settle();
    const [part] = await w.bench.reply(HERE, ["coo"]);
    if (!part) throw new Error("nothing to send");
    const send = () =>
      w.platforms
        .channel("pigeon")
        ?.send(part, NEVER)
        .catch((error: unknown) => error);
    const seen = await send();
    expect(seen).toBeInstanceOf(SendError);
    expect(seen).toMatchObject({ kind: "limited", retryAfterMs: 5, message: "wait a bit" });
    next = wrong;
    expect(await send()).not.toBeInstanceOf(SendError);
  });
});
