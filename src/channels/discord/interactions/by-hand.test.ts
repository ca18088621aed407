/** Commands, buttons and questions of Discord beside a gateway that a test plays by hand: limits, signals, replays, a stop. */
import { describe, expect, test } from "bun:test";
import { DiscordAPIError } from "@discordjs/rest";
import type { APIInteraction } from "discord-api-types/v10";
import type { AccountState } from "../../kit/index.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { createPlaces } from "../inbound/threads.ts";
import { snowflakeAt } from "../settings.ts";
import { approvalPlatform } from "./approvals.ts";
import { postWithButtons } from "./button-messages.ts";
import { callbackOf } from "./callback.ts";
import { createInteractions, type InteractionAnswer, type InteractionDeps } from "./interactions.ts";
import { registerMenu } from "./menu.ts";
import { createQuestionMessages } from "./question-messages.ts";
import { createReplays } from "./replays.ts";
import { discordWebhook } from "./webhook.ts";

const NEVER = new AbortController().signal;
const FRIEND = { id: "900000000000000002", username: "frida", global_name: "Frida" };

function facts(kept = new Map<string, string>()): AccountState & { readonly kept: Map<string, string> } {
  return {
    kept,
    get: async (key) => kept.get(key) ?? null,
    put: async (key, value) => void kept.set(key, value),
    forget: async (key) => void kept.delete(key),
    list: async () => [],
  };
}

function world(over: Partial<InteractionDeps> = {}) {
  const clock = createFakeClock();
  const signals: AbortSignal[] = [];
  const said: string[] = [];
  const looked: unknown[] = [];
  const expected: unknown[] = [];
  const interactions = createInteractions({
    clock,
    places: createPlaces(),
    replays: createReplays({ clock, facts: facts() }),
    applicationId: () => "77",
    previews: { expect: (...of: readonly unknown[]) => void expected.push(of) },
    door: {
      look: async (arrival: unknown) => (looked.push(arrival), { kind: "come", role: "owner" }),
      receive: async (message: { text: string }, signal: AbortSignal) => {
        signals.push(signal);
        said.push(message.text);
        return { kind: "queued", id: "in_1", sessionKey: "s", position: 0 };
      },
    } as unknown as InteractionDeps["door"],
    approvals: { decide: async () => "decided" },
    questions: { answer: () => ({ kind: "taken", say: "" }), answerAnywhere: async () => ({ kind: "taken", say: "" }) },
    ...over,
  });
  let number = 0;
  const used = (type: number, data: object): APIInteraction =>
    ({
      id: String(BigInt(snowflakeAt(clock.now())) + BigInt(++number)),
      type,
      application_id: "77",
      data,
      user: FRIEND,
      channel: { id: "1" },
      message: { id: "5" },
    }) as unknown as APIInteraction;
  const command = (options: readonly object[] = []) => used(2, { type: 1, name: "ask", options });
  return { clock, interactions, signals, said, looked, expected, used, command };
}

describe("discord interactions", () => {
  test("of kinds that are not known here are nobody's, and the door is not asked", async () => {
    const at = world();
    for (const type of [4, 5, 99])
      expect(await at.interactions.handle(at.used(type, {}), NEVER)).toEqual({ kind: "nothing" });
    expect(at.looked).toEqual([]);
  });

  test("that are commands are stored with the signal of their caller, with their words or without", async () => {
    const at = world();
    const { signal } = new AbortController();
    await at.interactions.handle(at.command(), signal);
    await at.interactions.handle(at.command([{ name: "text", type: 1 }]), signal);
    expect([at.said, at.signals.map((one) => one === signal)]).toEqual([
      ["/ask", "/ask"],
      [true, true],
    ]);
    const shown = ["in_1", { to: { channel: "discord", account: "default", chat: "1" }, replyTo: null }];
    expect(at.expected).toEqual([shown, shown]); // their answers are shown while they are made
  });

  test("count once, and are asked to come again when too many come at a time", async () => {
    const at = world();
    const same = at.command();
    await at.interactions.handle(same, NEVER);
    expect(await at.interactions.handle(same, NEVER)).toEqual({ kind: "nothing" });
    const full = world({ replays: { take: async () => "full" } });
    expect(await full.interactions.handle(full.command(), NEVER)).toEqual({ kind: "busy" });
    expect([at.said.length, full.said.length]).toEqual([1, 0]);
  });

  test("that press a button of an approval are for owners, also when the gateway knows better who is one", async () => {
    const at = world({ approvals: { decide: async () => "not_allowed" } });
    const answer = await at.interactions.handle(at.used(3, { custom_id: "approval:once:ask_12345678" }), NEVER);
    expect(answer).toEqual({ kind: "whisper", text: "Only an owner can decide that." });
  });
});

describe("discord interactions of an application", () => {
  test("that is not this one are nobody's; while it is not known which this is, all are taken", async () => {
    const foreign = world({ applicationId: () => "78" });
    expect(await foreign.interactions.handle(foreign.command(), NEVER)).toEqual({ kind: "nothing" });
    const unknown = world({ applicationId: () => null });
    expect(await unknown.interactions.handle(unknown.command(), NEVER)).toEqual({ kind: "whisper", text: "Got it." });
    expect([foreign.said.length, foreign.looked.length, unknown.said.length]).toEqual([0, 0, 1]);
  });

  test("that bring a message a second time show its answer once", async () => {
    const at = world();
    const door = {
      look: async () => ({ kind: "come", role: "owner" }),
      receive: async () => ({ kind: "duplicate", id: "in_1" }),
    };
    const again = world({ door: door as unknown as InteractionDeps["door"] });
    await at.interactions.handle(at.command(), NEVER);
    await again.interactions.handle(again.command(), NEVER);
    expect([at.expected.length, again.expected.length]).toEqual([1, 0]);
  });
});

test("discord answers: a whisper is for one person, a replaced message has no buttons, and neither pings anybody", () => {
  const allowed_mentions = { parse: [] };
  expect(callbackOf({ kind: "whisper", text: "Hush." })).toEqual({
    type: 4,
    data: { content: "Hush.", flags: 64, allowed_mentions },
  });
  expect(callbackOf({ kind: "replace", text: "Over." })).toEqual({
    type: 7,
    data: { content: "Over.", components: [], allowed_mentions },
  });
  const others = (["pong", "noted", "busy", "nothing"] as const).map((kind) => callbackOf({ kind }));
  expect(others).toEqual([{ type: 1 }, { type: 6 }, null, null]);
});

test.each([1_798, 1_998, 3_600])(
  "discord questions of a star and %d letters are shown whole, escaped, with room for the sentence about their end",
  async (letters) => {
    const shown: { content: string }[] = [];
    const channels = {
      createMessage: async (_channel: string, body: { content: string }) => (shown.push(body), { id: "9" }),
      editMessage: async (_channel: string, _message: string, body: { content: string }) => void shown.push(body),
    };
    const messages = createQuestionMessages({ log: recordingLog(), api: { channels } as never }, NEVER);
    const to = { channel: "discord", account: "default", chat: "5" };
    const asked = { id: "ask_12345678", to, text: `*${"x".repeat(letters)}`, labels: ["Yes"] };
    const { close } = await messages.show(asked as never, NEVER);
    expect(shown.map(({ content }) => content).join("")).toBe(`\\*${"x".repeat(letters)}`);
    await close({ answered: true, words: "y".repeat(500) });
    expect(shown.at(-1)?.content).toEndWith("yyy");
    for (const { content } of shown) expect(content.length).toBeLessThanOrEqual(2_000);
  },
);

describe("discord's own posts", () => {
  async function posting(kind: InteractionAnswer["kind"]) {
    const keys = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    const publicKey = Buffer.from(await crypto.subtle.exportKey("raw", keys.publicKey)).toString("hex");
    const clock = createFakeClock();
    const signals: AbortSignal[] = [];
    const handle = async (_asked: unknown, signal: AbortSignal) => {
      signals.push(signal);
      return { kind, text: "Well." } as InteractionAnswer;
    };
    const webhook = discordWebhook({ clock, log: recordingLog(), interactions: { handle } }, publicKey);
    const post = async (
      apartMs: number,
      signal = NEVER,
      given: object = { id: "1", type: 3, application_id: "77" },
    ) => {
      const body = new TextEncoder().encode(JSON.stringify(given));
      const timestamp = String(Math.floor((clock.now() + apartMs) / 1_000));
      const signed = Buffer.concat([Buffer.from(timestamp), body]);
      const signature = Buffer.from(await crypto.subtle.sign("Ed25519", keys.privateKey, signed)).toString("hex");
      const headers = new Headers({ "x-signature-ed25519": signature, "x-signature-timestamp": timestamp });
      return webhook.handle({ headers, body } as never, signal);
    };
    return { post, signals };
  }

  test.each([
    [0, 200],
    [-300_000, 200],
    [300_000, 200],
    [-302_000, 401],
    [302_000, 401],
  ])("whose time is %d ms from ours are answered with %d", async (apartMs, status) => {
    const { post } = await posting("noted");
    expect((await post(apartMs)).status).toBe(status);
  });

  test.each<[InteractionAnswer["kind"], number]>([
    ["noted", 200],
    ["pong", 200],
    ["whisper", 200],
    ["replace", 200],
    ["busy", 503],
    ["nothing", 403],
  ])("that end as %s are answered with %d, under the signal of their request", async (kind, status) => {
    const { post, signals } = await posting(kind);
    const { signal } = new AbortController();
    expect((await post(0, signal)).status).toBe(status);
    expect([signals.length, signals[0] === signal]).toEqual([1, true]);
  });

  test.each<[object]>([
    [{}],
    [[]],
    [{ id: 1, type: 3, application_id: "77" }],
    [{ id: "1", type: "3", application_id: "77" }],
    [{ id: "1", type: 3 }],
  ])("that say %j are no interactions", async (given) => {
    const { post, signals } = await posting("noted");
    expect([(await post(0, NEVER, given)).status, signals.length]).toEqual([400, 0]);
  });

  const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  test.each([
    ["larger than half a megabyte", { options: "x".repeat(512 * 1024) }, 400],
    ["nested deeper than any of Discord's", { options: nested(64) }, 400],
    ["nested as deep as is read", { options: nested(63) }, 200],
  ])("that are %s are answered by status", async (_what, more, status) => {
    const { post } = await posting("noted");
    expect((await post(0, NEVER, { id: "1", type: 3, application_id: "77", ...more }))?.status).toBe(status);
  });
});

describe("discord replays", () => {
  test("are known after a restart, and forgotten when no request can be that old any more", async () => {
    const clock = createFakeClock();
    const kept = facts();
    const id = snowflakeAt(clock.now());
    expect(await createReplays({ clock, facts: kept }).take(id)).toBe("first");
    const replays = createReplays({ clock, facts: kept });
    expect(await replays.take(id)).toBe("again");
    await clock.advance(15 * 60_000 + 1);
    expect(await replays.take(id)).toBe("again"); // too old to be told from a repeat
    await replays.take(snowflakeAt(clock.now()));
    expect(kept.kept.get("interactions")).not.toContain(id);
  });

  test("that come at the same moment count once, and what was seen before is read once", async () => {
    const clock = createFakeClock();
    const kept = facts();
    const { get } = kept;
    let reads = 0;
    kept.get = async (key) => {
      reads++;
      await new Promise((resolve) => setImmediate(resolve));
      return get(key);
    };
    const replays = createReplays({ clock, facts: kept });
    const id = snowflakeAt(clock.now());
    const other = String(BigInt(id) + 1n);
    expect(await Promise.all([id, id, other].map((one) => replays.take(one)))).toEqual(["first", "again", "first"]);
    expect([reads, JSON.parse(kept.kept.get("interactions") ?? "")]).toEqual([1, [id, other]]);
  });

  test("are kept up to a number, at which the next one is asked to come again", async () => {
    const clock = createFakeClock();
    const first = BigInt(snowflakeAt(clock.now()));
    const ids = Array.from({ length: 999 }, (_, n) => String(first + BigInt(n)));
    const replays = createReplays({ clock, facts: facts(new Map([["interactions", JSON.stringify(ids)]])) });
    expect(await replays.take(String(first + 2_000n))).toBe("first");
    expect(await replays.take(String(first + 2_001n))).toBe("full");
  });

  test("are not counted when they could not be written down: the same one may come again", async () => {
    const clock = createFakeClock();
    const kept = facts();
    const { put } = kept;
    let isFull = true;
    kept.put = (...row) => (isFull ? Promise.reject(new Error("disk full")) : put(...row));
    const replays = createReplays({ clock, facts: kept });
    const id = snowflakeAt(clock.now());
    await expect(replays.take(id)).rejects.toThrow("disk full");
    isFull = false;
    expect(await replays.take(id)).toBe("first");
  });
});

test("discord questions of a turn are shown with the signal of who asks, and closed while the channel lives, whatever Discord says", async () => {
  const signals: AbortSignal[] = [];
  const channels = {
    createMessage: async (...given: [unknown, unknown, { signal: AbortSignal }]) => (
      signals.push(given[2].signal),
      { id: "m1" }
    ),
    editMessage: async (...given: [unknown, unknown, unknown, { signal: AbortSignal }]) => {
      signals.push(given[3].signal);
      throw new Error("gone");
    },
  };
  const life = new AbortController().signal;
  const asks = new AbortController().signal;
  const board = createQuestionMessages({ log: recordingLog(), api: { channels } as never }, life);
  const to = { channel: "discord", account: "default", chat: "1" };
  const shown = await board.show({ id: "question-1", to, text: "Really?", labels: ["yes"] } as never, asks);
  await shown.close({ answered: true, words: "x".repeat(500) });
  expect(signals.map((one) => [one === asks, one === life])).toEqual([
    [true, false],
    [false, true],
  ]);
});

describe("discord approvals", () => {
  const refusal = new DiscordAPIError({ code: 50013, message: "" }, 50013, 403, "POST", "", {});
  test.each([
    ["again after a second when Discord was not reached, because it knows the nonce", new Error("ECONNREFUSED"), 1_000],
    ["again after a second when its answer was lost", new Error("socket hang up"), 1_000],
    ["never again when Discord refused them", refusal, null],
  ])("are posted %s", (_when, error, pauseMs) => {
    expect(approvalPlatform({} as never).retryAfterMs(error)).toBe(pauseMs);
  });

  interface Posted {
    readonly content: string;
    readonly components: readonly { readonly components: readonly { readonly custom_id: string }[] }[];
    readonly nonce: string;
  }

  async function posted(shown: string): Promise<Posted> {
    const bodies: Posted[] = [];
    const createMessage = async (_channel: string, body: Posted) => (bodies.push(body), { id: "9" });
    const origin = { channel: "discord", account: "default", chat: "5" };
    const approval = { id: "a:1", tool: "run_it", shown, origin } as never;
    await approvalPlatform({ channels: { createMessage } } as never).post(approval, NEVER);
    const [body, ...more] = bodies;
    if (!body || more.length > 0) throw new Error(`${bodies.length} messages were posted`);
    return body;
  }

  test("have a button for each decision below the whole call, up to what fits into a message", async () => {
    for (const shown of ["{}", "x".repeat(1_700), "`".repeat(283)]) {
      const { content, components } = await posted(shown);
      const buttons = components.flatMap((row) => row.components).map(({ custom_id }) => custom_id);
      expect(buttons).toEqual(["approval:once:a:1", "approval:session:a:1", "approval:deny:a:1"]);
      expect(content.length).toBeLessThanOrEqual(2_000);
    }
  });

  test("of a call that does not fit have no buttons, name the tool, and say where to decide", async () => {
    for (const shown of ["x".repeat(1_701), "`".repeat(284)]) {
      const { content, components } = await posted(shown);
      expect(components).toEqual([]);
      expect(content).toStartWith("**run\\_it** waits for an owner.");
      expect(content).toContain("web console");
    }
  });

  test("lose their buttons, and are answered below, as long as the channel lives", async () => {
    const calls: unknown[] = [];
    const channels = {
      editMessage: async (...given: unknown[]) => void calls.push(given),
      createMessage: async (...given: unknown[]) => (calls.push(given), { id: "10" }),
    };
    const platform = approvalPlatform({ channels } as never);
    const to = { channel: "discord", account: "default", chat: "5", thread: "6" };
    const { signal } = new AbortController();
    await platform.removeButtons(to, "9", signal);
    await platform.reply(to, "9", "Too late.", signal);
    expect(calls).toEqual([
      ["6", "9", { components: [] }, { signal }],
      ["6", { content: "Too late.", message_reference: { message_id: "9", fail_if_not_exists: false } }, { signal }],
    ]);
    expect((calls[0] as { signal: AbortSignal }[])[3]?.signal).toBe(signal);
    expect((calls[1] as { signal: AbortSignal }[])[2]?.signal).toBe(signal);
  });
});

test("a message with buttons on Discord that takes several has them below its end, and each piece is known by a nonce of its own", async () => {
  const bodies: { components: unknown[]; nonce: string; enforce_nonce: boolean }[] = [];
  const createMessage = async (_channel: string, body: (typeof bodies)[number]) => {
    bodies.push(body);
    return { id: String(bodies.length) };
  };
  const buttons = Array.from({ length: 7 }, (_, at) => ({ label: `${at}`, customId: `c${at}`, style: 2 }));
  const to = { channel: "discord", account: "default", chat: "5" };
  const message = { id: "q1", pieces: ["first", "second"], buttons };
  expect(await postWithButtons({ channels: { createMessage } } as never, to, message, NEVER)).toBe("2");
  const [first, second] = bodies;
  expect(first?.components).toEqual([]);
  expect(second?.components.map((row) => (row as { components: unknown[] }).components.length)).toEqual([5, 2]);
  expect([first?.enforce_nonce, second?.enforce_nonce, first?.nonce === second?.nonce]).toEqual([true, true, false]);
});

test("the menu is registered once for each application, also when its commands are the same", async () => {
  const registered: string[] = [];
  const applicationCommands = { bulkOverwriteGlobalCommands: async (id: string) => void registered.push(id) };
  const deps = { api: { applicationCommands } as never, log: recordingLog(), facts: facts(), commands: () => [] };
  for (const application of ["77", "77", "78"]) await registerMenu(deps, application, NEVER);
  expect(registered).toEqual(["77", "78"]);
});
