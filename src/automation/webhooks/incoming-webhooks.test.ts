/** Every way in which a request to a hook is refused: no effect, one line in the log; and what becomes of those that are not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { checkConfigText } from "../../config/index.ts";
import type { HookAnswer } from "../../contracts/automation/webhook.ts";
import type { InternalMessage } from "../../contracts/automation/internal-message.ts";
import type { SystemEvent, Wake } from "../../contracts/automation/system-event.ts";
import { type Receipt, SendError } from "../../contracts/channel.ts";
import type { AgentId, InboxId, SessionKey } from "../../contracts/ids.ts";
import type { MarkedRequest } from "../../contracts/store/webhook-marks.ts";
import { SIGNATURE_WINDOW_MS, signBody } from "../../kit/signed-body.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { createIncomingWebhooks } from "./incoming-webhooks.ts";
import type { WebhookSettings } from "./rules.ts";

const NEVER = new AbortController().signal;
const SECRET = "s3cret-for-signing-4f81c2a97b";
const OTHER = "another-secret-77ab31c0d9e2f4";
const OWNER = "agent:default:api:dm:operator" as SessionKey;
const CHAT = "agent:default:webchat:dm:ops" as SessionKey;

const SETTINGS = {
  enabled: true,
  token: "the-token-of-hooks-9a8b7c6d5e",
  secret: SECRET,
  mappings: {
    build: { message: "Build {{build.id}} of {{repo}} failed.", task: "Say why.", to: CHAT, delivery: "direct" },
    loose: { message: "{{.}}", signed: false, session: "main" },
    own: { message: "{{a}}", secret: OTHER, session: "request", webhook: "ops", role: "member", perMinute: 2 },
    named: { message: "{{a}}", session: CHAT },
    watch: { message: "{{a}}", agent: "ops" },
    lost: { message: "x", to: "agent:default:telegram:dm:nobody" },
    tasked: { message: "{{a}}", session: "main", task: "Say why." },
  },
  targets: { ops: { url: "https://ops.example/in" } },
};

function settings(change: object = {}): WebhookSettings {
  const hooks = { ...SETTINGS, ...change };
  const { config, problems } = checkConfigText(JSON.stringify({ hooks, agents: [{ id: "ops" }] }), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return config.hooks;
}

async function world(change: object = {}) {
  const clock = createFakeClock();
  const log = recordingLog();
  const real = await realStore(clock);
  const put: InternalMessage[] = [];
  const told: [Omit<SystemEvent, "createdAt" | "expiresAt">, Wake | undefined][] = [];
  const ids = createSeqIds();
  const admitted: MarkedRequest[] = [];
  const signals: AbortSignal[] = [];
  const state: WorldState = { refuse: null, markFails: false, eventFails: null, config: settings(change) };
  const place = (sessionKey: SessionKey) => ({
    sessionKey,
    agentId: "default" as AgentId,
    scope: "dm" as const,
    to: { channel: "webchat", account: "default", chat: "1" },
  });
  const open = () =>
    createIncomingWebhooks(
      {
        clock,
        ids,
        log,
        marks: {
          async stored(id) {
            if (state.markFails) throw new Error("the disk is full");
            await real.store.webhookMarks.stored(id);
          },
          admit(request) {
            admitted.push(request);
            return real.store.webhookMarks.admit(request);
          },
        },
        sessionChats: {
          ofOwner: async () => place(OWNER),
          at: async (key) => (key.includes("nobody") ? null : place(key)),
        },
        systemEvents: {
          async put(event, { wake }) {
            if (state.eventFails === event.kind) throw new Error("the disk is full");
            if (state.refuse && wake) throw new SendError("retry", state.refuse.because);
            told.push([event, wake]);
          },
        },
        receiver: {
          async put(entry, signal) {
            signals.push(signal);
            if (state.refuse) return state.refuse;
            put.push(entry);
            return { kind: "queued", id: "in_1" as InboxId, sessionKey: entry.sessionKey, position: 0 };
          },
        },
        names: {
          isAgent: (id) => id === "default" || id === "ops",
          isTarget: (name) => name in state.config.targets,
          isMapping: (name) => name in state.config.mappings,
          sessionKey: (text) => text as SessionKey,
          sessionOf: (agent, name, request) =>
            `agent:${agent}:hook:${name}${request === null ? "" : `:run:${request}`}` as SessionKey,
        },
      },
      () => state.config,
    );
  let door = open();
  const send = (name: string, body: unknown, more: Sending = {}): Promise<HookAnswer> => {
    const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
    const { timestamp, signature } = signBody(more.secret ?? SECRET, bytes, more.at ?? clock.now());
    const signed = { "x-pi-timestamp": timestamp, "x-pi-signature": signature };
    const headers = new Headers({ ...(more.bare ? {} : signed), ...more.headers });
    return door.receive({ name, headers, body: more.bytes ?? bytes, client: "192.0.2.1" }, more.signal ?? NEVER);
  };
  return {
    clock,
    log,
    put,
    told,
    admitted,
    signals,
    state,
    send,
    real,
    async restart() {
      await real.reopen();
      door = open();
    },
    effects: () => put.length + told.length,
    refusals: () => log.lines.filter(({ words }) => words === "hook refused").map(({ fields }) => fields["because"]),
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

interface WorldState {
  refuse: Extract<Receipt, { kind: "refused" }> | null;
  markFails: boolean;
  eventFails: SystemEvent["kind"] | null;
  config: WebhookSettings;
}

interface Sending {
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly secret?: string;
  readonly at?: number;
  readonly bare?: boolean;
  readonly bytes?: Uint8Array;
}

const BUILD = { build: { id: 42 }, repo: "acme/app" };
const key = (value: string): Sending => ({ headers: { "idempotency-key": value } });

describe("refused, without any effect and with one line in the log", () => {
  type World = Awaited<ReturnType<typeof world>>;
  const sign = (w: World, body: string) => signBody(SECRET, new TextEncoder().encode(body), w.clock.now()).signature;
  const withSignature = (change: (signature: string) => string) => (w: World) =>
    w.send("build", BUILD, { headers: { "x-pi-signature": change(sign(w, JSON.stringify(BUILD))) } });
  const old = (ms: number) => (w: World) => w.send("build", BUILD, { at: w.clock.now() + ms });
  type Case = readonly [string, (w: World) => Promise<HookAnswer>, string, boolean?];
  const CASES: readonly Case[] = [
    ["a hook that is not there", (w) => w.send("gone", BUILD), "not_found"],
    ["a name of the language", (w) => w.send("constructor", BUILD), "not_found"],
    ["no signature", (w) => w.send("build", BUILD, { bare: true }), "hook_signature", true],
    ["another secret", (w) => w.send("build", BUILD, { secret: OTHER }), "hook_signature", true],
    ["the common secret where a hook has its own", (w) => w.send("own", { a: 1 }), "hook_signature", true],
    ["other bytes", (w) => w.send("build", BUILD, { bytes: new TextEncoder().encode("{}") }), "hook_signature", true],
    ["a signature in capitals", withSignature((text) => text.toUpperCase()), "hook_signature", true],
    ["a signature in base64", withSignature((text) => `v1=${btoa(text)}`), "hook_signature", true],
    ["a signature without version", withSignature((text) => text.slice(3)), "hook_signature", true],
    ["garbage, which nobody looks at", (w) => w.send("build", "{nope", { secret: OTHER }), "hook_signature", true],
    ["an old timestamp", old(-301_000), "hook_stale"],
    ["a timestamp ahead", old(302_000), "hook_stale"],
    ["a key that is none", (w) => w.send("build", BUILD, key("two words")), "bad_request"],
    ["a key that is too long", (w) => w.send("build", BUILD, key("k".repeat(129))), "bad_request"],
    ["what is no JSON", (w) => w.send("build", "{nope"), "invalid_params"],
    ["what is too deep", (w) => w.send("build", "[".repeat(100) + "]".repeat(100)), "invalid_params"],
    ["a conversation that is not there", (w) => w.send("lost", {}), "invalid_params"],
    ["a wake without words", (w) => w.send("wake", { text: " " }), "invalid_params"],
    ["a wake at no known time", (w) => w.send("wake", { text: "x", mode: "soon" }), "invalid_params"],
    ["a field nobody knows", (w) => w.send("wake", { text: "x", role: "owner" }), "invalid_params"],
    ["a list", (w) => w.send("agent", [1]), "invalid_params"],
    ["no message", (w) => w.send("agent", {}), "invalid_params"],
    ["a message without end", (w) => w.send("agent", { message: "x".repeat(8_000) }), "invalid_params"],
    ["an agent that is not there", (w) => w.send("agent", { message: "x", agentId: "gone" }), "invalid_params"],
    ["a place that is not there", (w) => w.send("agent", { message: "x", webhook: "gone" }), "invalid_params"],
    [
      "what would not be posted",
      (w) => w.send("agent", { message: "x", webhook: "ops", session: "main" }),
      "invalid_params",
    ],
    ["the name of another hook", (w) => w.send("agent", { message: "x", name: "build" }), "invalid_params"],
  ];
  const SAID = ["bad_request", "invalid_params"];
  let shared: World;
  beforeAll(async () => void (shared = await world({ perMinute: 1_000 })));
  afterAll(() => shared[Symbol.asyncDispose]());
  test.each(CASES)("is %s", async (_what, ask, code, guess = false) => {
    const before = shared.refusals().length;
    const answer = await ask(shared);
    const problem = SAID.includes(code) ? { say: expect.any(String) } : {}; // the sender is told what to repair, and else nothing
    expect(answer).toStrictEqual({ kind: "refused", code: code as never, guess, ...problem });
    expect([shared.effects(), shared.refusals().length - before]).toEqual([0, 1]);
  });

  test("is all of that, and nothing is remembered of it: the right request is taken afterwards", async () => {
    expect((await shared.send("build", BUILD)).kind).toBe("stored");
  });

  test("is logged with 64 characters of the name, and with a key id only where the signature was wrong", async () => {
    const before = shared.log.lines.length;
    const keyId = { headers: { "x-pi-key-id": "spring" } };
    await shared.send("n".repeat(65), BUILD, keyId);
    await shared.send("build", BUILD, { ...keyId, secret: OTHER });
    await shared.send("build", BUILD, { secret: OTHER });
    const fields = shared.log.lines.slice(before).map((line) => [line.fields["hook"], "keyId" in line.fields]);
    expect(fields).toEqual([
      ["n".repeat(64), false],
      ["build", true],
      ["build", false],
    ]);
  });

  test("is everything while hooks are off", async () => {
    await using w = await world({ enabled: false });
    for (const name of ["wake", "agent", "build"])
      expect(await w.send(name, BUILD)).toMatchObject({ code: "not_found" });
    expect(w.effects()).toBe(0);
  });

  test("is a replay, also after a restart, with another key, and with header names of another case", async () => {
    await using w = await world();
    expect((await w.send("build", BUILD)).kind).toBe("stored");
    const replay = { code: "hook_replayed", guess: false };
    expect(await w.send("build", BUILD)).toMatchObject(replay);
    expect(await w.send("build", BUILD, key("made-up"))).toMatchObject(replay);
    await w.restart();
    expect(await w.send("build", BUILD)).toMatchObject(replay);
    expect([w.put.length, w.refusals()]).toEqual([1, ["replay", "replay", "replay"]]);
    expect((await w.send("build", { ...BUILD, repo: "other" })).kind).toBe("stored");
    await w.clock.advance(1_000);
    expect((await w.send("build", BUILD)).kind).toBe("stored"); // the same words at another time are another request
  });

  test("is a replay for as long as its signature could be used, a sender's clock that is ahead included", async () => {
    await using w = await world();
    const at = w.clock.now() + SIGNATURE_WINDOW_MS;
    expect((await w.send("build", BUILD, { at })).kind).toBe("stored");
    await w.clock.advance(SIGNATURE_WINDOW_MS);
    expect(await w.send("build", BUILD, { at })).toMatchObject({ code: "hook_replayed" });
    await w.clock.advance(SIGNATURE_WINDOW_MS);
    expect(await w.send("build", BUILD, { at })).toMatchObject({ code: "hook_replayed" });
    await w.clock.advance(1_000);
    expect(await w.send("build", BUILD, { at })).toMatchObject({ code: "hook_stale" });
    expect(w.put.length).toBe(1);
  });

  test("is a crowd beyond the common limit, where a hook has none of its own", async () => {
    await using w = await world({ perMinute: 1 });
    expect((await w.send("build", BUILD)).kind).toBe("stored");
    expect(await w.send("build", { n: 2 })).toMatchObject({ code: "hook_limited", retryAfterMs: 60_000 });
    expect((await w.send("wake", { text: "x" })).kind).toBe("stored");
  });

  test("is a crowd beyond what a hook takes, with the time to wait; the others go on", async () => {
    await using w = await world();
    const ask = (a: number) => w.send("own", { a }, { secret: OTHER });
    expect([(await ask(1)).kind, (await ask(2)).kind]).toEqual(["stored", "stored"]);
    expect(await ask(3)).toEqual({ kind: "refused", code: "hook_limited", guess: false, retryAfterMs: 30_000 });
    expect((await w.send("build", BUILD)).kind).toBe("stored");
    await w.clock.advance(30_000);
    expect((await ask(4)).kind).toBe("stored");
    expect(w.put.length).toBe(4);
  });
});

test("a hook that was quiet for an hour takes a minute's worth at once, and not an hour's", async () => {
  await using w = await world();
  const ask = (a: number) => w.send("own", { a }, { secret: OTHER });
  expect((await ask(0)).kind).toBe("stored");
  await w.clock.advance(3_600_000);
  const kinds: string[] = [];
  for (let n = 1; n <= 4; n++) kinds.push((await ask(n)).kind);
  expect(kinds).toEqual(["stored", "stored", "refused", "refused"]);
});

test("a flood of wrong signatures writes nothing down and has no effect", async () => {
  await using w = await world();
  for (let n = 0; n < 2_000; n++) {
    const answer = await w.send("build", `{"n":${n}`, { secret: OTHER, ...key(`k${n}`) });
    if (answer.kind !== "refused" || answer.code !== "hook_signature") throw new Error(JSON.stringify(answer));
  }
  expect([w.effects(), w.admitted.length, w.refusals().length]).toEqual([0, 0, 2_000]);
});

describe("a key", () => {
  test("gives the same answer for the same content, however often and under whichever signature", async () => {
    await using w = await world();
    const first = await w.send("build", BUILD, key("k1"));
    await w.clock.advance(60_000);
    const second = await w.send("build", BUILD, key("k1"));
    await w.restart();
    await w.clock.advance(60_000);
    const third = await w.send("build", BUILD, key("k1"));
    expect(first.kind).toBe("stored");
    expect([second, third]).toEqual([first, first]);
    expect(w.put.length).toBe(1);
  });

  test("is remembered for a day", async () => {
    await using w = await world();
    const first = await w.send("build", BUILD, key("k1"));
    await w.clock.advance(24 * 3_600_000 - 1_000);
    expect(await w.send("build", BUILD, key("k1"))).toEqual(first);
    await w.clock.advance(24 * 3_600_000 + 1_000);
    expect((await w.send("build", BUILD, key("k1"))).kind).toBe("stored");
    expect(w.put.length).toBe(2);
  });

  test("with another content is refused, and belongs to one hook", async () => {
    await using w = await world();
    await w.send("build", BUILD, key("k1"));
    expect(await w.send("build", { ...BUILD, more: 1 }, key("k1"))).toMatchObject({ code: "key_reused" });
    expect((await w.send("wake", { text: "x" }, key("k1"))).kind).toBe("stored");
    expect(w.put.length).toBe(1);
  });

  test("works without a signature where none is needed", async () => {
    await using w = await world();
    const bare = { ...key("k1"), bare: true };
    const first = await w.send("loose", { a: 1 }, bare);
    expect(await w.send("loose", { a: 1 }, bare)).toEqual(first);
    expect(w.told.length).toBe(1);
  });
});

describe("a mark of a request", () => {
  const lifetimeMs = (mark: MarkedRequest | undefined) => mark && mark.expiresAt - mark.at;

  test("is kept for three windows of a signature, for a day with a key, and not at all without both", async () => {
    await using w = await world();
    await w.send("build", BUILD);
    expect([lifetimeMs(w.admitted[0]), w.admitted[0]?.key]).toEqual([3 * SIGNATURE_WINDOW_MS, null]);
    await w.send("build", { n: 1 }, key("k1"));
    expect([lifetimeMs(w.admitted[1]), typeof w.admitted[1]?.signed]).toEqual([24 * 3_600_000, "string"]);
    await w.send("loose", BUILD, { bare: true, ...key("k2") });
    expect([lifetimeMs(w.admitted[2]), w.admitted[2]?.signed]).toEqual([24 * 3_600_000, null]);
    await w.send("loose", BUILD, { bare: true });
    expect(w.admitted.length).toBe(3);
  });

  test("is written before its sender is told, and a sender that was not told begins the same request again", async () => {
    await using w = await world();
    w.state.markFails = true;
    await expect(w.send("build", BUILD)).rejects.toThrow("the disk is full");
    w.state.markFails = false;
    const answer = await w.send("build", BUILD);
    const ids = w.put.map(({ message }) => message.eventId);
    expect(ids).toEqual([ids[0], answer.kind === "stored" ? answer.id : ""] as never);
    expect(await w.send("build", BUILD)).toMatchObject({ code: "hook_replayed" });
  });
});

test("a webhook request hands its signal on to where the message is stored", async () => {
  await using w = await world();
  const { signal } = new AbortController();
  await w.send("agent", { message: "look" }, { signal });
  expect(w.signals).toEqual([signal]);
  expect(w.signals[0]).toBe(signal);
});

describe("a gateway that is full or stopping", () => {
  test.each([
    ["session_full", "queue_full"],
    ["stopping", "stopping"],
  ] as const)("(%s) takes the very same request when it can again", async (because, code) => {
    await using w = await world();
    w.state.refuse = { kind: "refused", because, say: "", retryAfterMs: 7 };
    const later = (retryAfterMs: number) => (code === "queue_full" ? { retryAfterMs } : {});
    const refused = { kind: "refused", code, guess: false } as const;
    expect(await w.send("agent", { message: "hello" })).toEqual({ ...refused, ...later(7) });
    w.state.refuse = { kind: "refused", because, say: "" };
    expect(await w.send("agent", { message: "hello" })).toEqual({ ...refused, ...later(1_000) });
    expect(await w.send("wake", { text: "hello" })).toEqual({ ...refused, ...later(1_000) });
    w.state.refuse = null;
    await w.restart(); // what was begun and not stored is taken up after a crash too
    const id = await w.send("agent", { message: "hello" });
    expect([id.kind, (await w.send("wake", { text: "hello" })).kind]).toEqual(["stored", "stored"]);
    expect([w.put.length, w.told.length]).toEqual([1, 1]);
    expect(await w.send("agent", { message: "hello" })).toMatchObject({ code: "hook_replayed" });
  });
});

describe("the task of a webhook", () => {
  test("is stored in the session of the request before its text, also in the main session", async () => {
    await using w = await world();
    await w.send("tasked", { a: 1 });
    expect(w.told.map(([{ kind, text, sessionKey }]) => [kind, text, sessionKey] as string[])).toEqual([
      ["task", "Say why.", OWNER],
      ["news", "1", OWNER],
    ]);
    expect(new Set(w.told.map(([{ id }]) => id)).size).toBe(2); // an id is stored once: with the same one the text would be lost
  });

  test.each(["build", "tasked"])("that cannot be stored begins nothing (%s)", async (hook) => {
    await using w = await world();
    w.state.eventFails = "task";
    await expect(w.send(hook, { a: 1 })).rejects.toThrow("the disk is full");
    expect(w.effects()).toBe(0);
    w.state.eventFails = null;
    expect((await w.send(hook, { a: 1 })).kind).toBe("stored");
  });
});

test("a webhook request whose event cannot be stored fails, and is not called a full queue", async () => {
  await using w = await world();
  w.state.eventFails = "news";
  await expect(w.send("wake", { text: "x" })).rejects.toThrow("the disk is full");
});

describe("a webhook request that is taken", () => {
  test("of a mapping is its template filled in, in the conversation of the hook; the task apart from it, trusted", async () => {
    await using w = await world();
    const answer = await w.send("build", BUILD);
    expect(w.put).toMatchObject([
      {
        sessionKey: "agent:default:hook:build",
        agentId: "default",
        role: "guest",
        priority: 3,
        message: {
          eventId: answer.kind === "stored" && answer.id,
          origin: "webhook",
          text: "Build 42 of acme/app failed.",
          address: { channel: "hook", chat: CHAT, thread: "direct:build" },
          sender: { principal: "operator", name: "build" },
        },
      },
    ]);
    expect(w.told).toMatchObject([[{ kind: "task", text: "Say why.", source: "hook build" }, undefined]]);
  });

  test("of a mapping with a session for each request goes to one of its own, with its own role and place", async () => {
    await using w = await world();
    await w.send("own", { a: 1 }, { secret: OTHER });
    expect(w.put[0]).toMatchObject({
      role: "member",
      message: { address: { thread: "announce:own:ops", chat: OWNER } },
    });
    expect(w.put[0]?.sessionKey).toMatch(/^agent:default:hook:own:run:hook_/);
  });

  test("goes to the agent that the mapping names, or the request", async () => {
    await using w = await world();
    await w.send("watch", { a: 1 });
    await w.send("agent", { message: "look", agent: "ops" });
    await w.send("agent", { message: "look again", agentId: "ops", name: "eyes" });
    expect(w.put.map(({ agentId, sessionKey }) => [agentId, sessionKey] as string[])).toEqual([
      ["ops", "agent:ops:hook:watch"],
      ["ops", "agent:ops:hook:agent"],
      ["ops", "agent:ops:hook:eyes"],
    ]);
  });

  test("for the main session is told there as something from outside, and wakes it with the rights of hooks", async () => {
    await using w = await world();
    await w.send("loose", { a: 1 }, { bare: true });
    expect(w.told).toMatchObject([
      [
        { kind: "news", source: "hook loose", text: '{"a":1}', sessionKey: OWNER },
        { role: "guest", origin: "webhook" },
      ],
    ]);
  });

  test("for a conversation that is named is told there", async () => {
    await using w = await world();
    await w.send("named", { a: 1 });
    await w.send("agent", { message: "look", session: CHAT, agent: "default" });
    expect(w.told).toMatchObject([
      [{ kind: "news", source: "hook named", text: "1", sessionKey: CHAT }, { role: "guest" }],
      [{ source: "hook agent", text: "look", sessionKey: CHAT }, { role: "guest" }],
    ]);
    expect(w.put).toEqual([]);
  });

  test("of a wake is told now, or with the next heartbeat, in the conversation it names", async () => {
    await using w = await world();
    await w.send("wake", { text: "The build is green." });
    await w.send("wake", { text: "No hurry.", mode: "next-heartbeat", to: CHAT });
    expect(w.told).toMatchObject([
      [{ kind: "news", source: "hook wake", text: "The build is green.", sessionKey: OWNER }, { role: "guest" }],
      [{ text: "No hurry.", sessionKey: CHAT }, undefined],
    ]);
  });

  test("of an agent hook is its message, as it wants it", async () => {
    await using w = await world();
    await w.send("agent", { message: "count", name: "geese", delivery: "silent", session: "hook", webhook: "ops" });
    expect(w.put[0]).toMatchObject({
      sessionKey: "agent:default:hook:geese",
      message: { text: "count", address: { thread: "silent:geese:ops" } },
    });
  });

  test("need not be signed for wake and agent while there is no secret, and must be while there is one", async () => {
    await using w = await world({ secret: undefined, mappings: {} });
    expect((await w.send("wake", { text: "x" }, { bare: true })).kind).toBe("stored");
    w.state.config = settings();
    expect(await w.send("wake", { text: "y" }, { bare: true })).toMatchObject({ code: "hook_signature" });
  });

  test("may be signed with the previous secret while senders change over", async () => {
    await using w = await world({ previousSecret: OTHER });
    expect((await w.send("build", BUILD, { secret: OTHER })).kind).toBe("stored");
  });
});

describe("named keys", () => {
  const [AUTUMN, WINTER] = ["autumn-key-0a1b2c3d4e5f6a7b8c", "winter-key-8c7b6a5f4e3d2c1b0a"];
  const keys = { autumn: AUTUMN, winter: WINTER };
  const named = (id: string, secret: string, at?: number): Sending => ({
    secret,
    headers: { "x-pi-key-id": id },
    ...(at === undefined ? {} : { at }),
  });

  test("are each good under their own id, and all of them without one; the log tells which of them it was", async () => {
    await using w = await world({ keys, previousSecret: OTHER });
    expect((await w.send("build", { n: 1 }, named("autumn", AUTUMN))).kind).toBe("stored");
    expect((await w.send("build", { n: 2 }, named("winter", WINTER))).kind).toBe("stored");
    for (const [n, secret] of [AUTUMN, WINTER, SECRET, OTHER].entries())
      expect((await w.send("wake", { text: `w${n}` }, { secret })).kind).toBe("stored");
    const used = w.log.lines.filter(({ words }) => words === "hook accepted").map(({ fields }) => fields["signedWith"]);
    const [autumn, winter] = ["hooks.keys.autumn", "hooks.keys.winter"];
    expect(used).toEqual([autumn, winter, autumn, winter, "hooks.secret", "hooks.previousSecret"]);
  });

  test.each<[string, string, string, [string, string]]>([
    ["another key under the name of this one", "autumn", WINTER, ["signature: wrong", "autumn"]],
    ["the unnamed secret under a name", "autumn", SECRET, ["signature: wrong", "autumn"]],
    ["a key id that nobody knows", "spring", AUTUMN, ["signature: unknown_key", "spring"]],
    ["one of another spelling", "Autumn", AUTUMN, ["signature: unknown_key", "(not an id)"]],
    ["an empty one", "", AUTUMN, ["signature: unknown_key", "(not an id)"]],
    ["two of them", "autumn, winter", AUTUMN, ["signature: unknown_key", "(not an id)"]],
    ["the secret itself", `${AUTUMN}=`, AUTUMN, ["signature: unknown_key", "(not an id)"]],
    ["a name of the language", "constructor", AUTUMN, ["signature: unknown_key", "constructor"]],
    ["what has no end", "a".repeat(65), AUTUMN, ["signature: unknown_key", "(not an id)"]],
  ])("are refused as a wrong signature is: %s", async (_what, id, secret, [because, keyId]) => {
    await using w = await world({ keys });
    const wrong = await w.send("build", BUILD, { secret: OTHER });
    expect(await w.send("build", BUILD, named(id, secret))).toEqual(wrong);
    expect(wrong).toMatchObject({ code: "hook_signature", guess: true });
    expect(w.log.lines.at(-1)?.fields).toMatchObject({ because, keyId });
    expect([w.effects(), w.admitted.length]).toEqual([0, 0]);
  });

  test("of a mapping stand instead of the common ones", async () => {
    const mappings = { build: { message: "{{.}}", keys: { autumn: AUTUMN } } };
    await using w = await world({ keys: { winter: WINTER }, mappings });
    expect((await w.send("build", BUILD, named("autumn", AUTUMN))).kind).toBe("stored");
    expect(await w.send("build", BUILD, named("winter", WINTER))).toMatchObject({ code: "hook_signature" });
    expect(await w.send("build", BUILD, { secret: SECRET })).toMatchObject({ code: "hook_signature" });
    expect(await w.send("wake", { text: "x" }, named("autumn", AUTUMN))).toMatchObject({ code: "hook_signature" });
  });

  test("are enough by themselves, and then everything must be signed", async () => {
    await using w = await world({ keys, secret: undefined });
    expect(await w.send("wake", { text: "x" }, { bare: true })).toMatchObject({ code: "hook_signature" });
    expect((await w.send("wake", { text: "x" }, named("winter", WINTER))).kind).toBe("stored");
  });

  test("do not make one request into two: signed again with another key it is still a replay", async () => {
    await using w = await world({ keys });
    expect((await w.send("build", BUILD, named("autumn", AUTUMN))).kind).toBe("stored");
    expect(await w.send("build", BUILD, named("winter", WINTER))).toMatchObject({ code: "hook_replayed" });
    expect(w.put.length).toBe(1);
  });

  test("hold no longer once they are taken out, and a late request is late under every id", async () => {
    await using w = await world({ keys });
    const late = w.clock.now() - 301_000;
    expect(await w.send("build", BUILD, named("autumn", AUTUMN, late))).toMatchObject({ code: "hook_stale" });
    w.state.config = settings({ keys: { winter: WINTER } });
    expect(await w.send("build", BUILD, named("autumn", AUTUMN))).toMatchObject({ code: "hook_signature" });
    expect(await w.send("build", BUILD, { secret: AUTUMN })).toMatchObject({ code: "hook_signature" });
  });
});
