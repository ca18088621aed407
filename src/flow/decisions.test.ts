/** Decisions about turns that need no turn, as tables: who may ask whom, who may answer, who pays, and what is said at the end. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../contracts/agent.ts";
import type { ChatQuestion, GivenAnswer } from "../contracts/channels/question.ts";
import type { ChatAddress, InboundMessage } from "../contracts/chat.ts";
import type { ReplyPart } from "../contracts/delivery.ts";
import type { Principal, Role } from "../contracts/ids.ts";
import type { Batch } from "../contracts/queue.ts";
import { billOf, originOf, recordLost, refusedEnd } from "./billing.ts";
import { mayDelegate } from "./delegation/decide.ts";
import { addUsage, failure, providerSentence, withReplyTo } from "./ending/turn-ending.ts";
import { causeOf, type Listening, mayAnswer, readAnswer, textFor, whyNotAsk } from "./questions/decide.ts";

describe("an agent that asks another", () => {
  const facts = { from: "a", to: "b", depth: 0, inTurn: 0, inAll: 0, restMs: 100_000, askedMs: undefined };
  const rules = { delegates: ["b", "c"], maxDepth: 2, maxPerTurn: 2, maxTotal: 3, timeoutMs: 60_000 };
  test.each<[what: string, facts: object, verdict: string | number]>([
    ["has the usual time", {}, 60_000],
    ["has the time it asks for", { askedMs: 5_000 }, 5_000],
    ["has no more than the usual time", { askedMs: 90_000 }, 60_000],
    ["leaves a tenth of what is left", { restMs: 20_000 }, 18_000],
    ["leaves ten seconds at most", { restMs: 65_000 }, 58_500],
    ["leaves ten seconds of much", { restMs: 69_000.5 }, 60_000],
    ["needs a second", { restMs: 1_112 }, 1_000],
    ["is refused with less", { restMs: 1_111 }, "no_time"],
    ["is refused when it asks for less", { askedMs: 999 }, "no_time"],
    ["may be the second in the chain", { depth: 1 }, 60_000],
    ["is not the third", { depth: 2 }, "too_deep"],
    ["may ask a second beside the first", { inTurn: 1 }, 60_000],
    ["does not ask a third", { inTurn: 2 }, "too_many_in_turn"],
    ["may be the last of all", { inAll: 2 }, 60_000],
    ["is not one too many of all", { inAll: 3 }, "too_many"],
    ["asks nobody who is not listed", { to: "x" }, "not_listed"],
  ])("%s", (_what, more, expected) => {
    const verdict = mayDelegate({ ...facts, ...more }, rules);
    expect(verdict.may ? verdict.timeoutMs : verdict.because).toBe(expected as never);
  });

  test("hears whom it may ask, and a long name in short", () => {
    const said = (to: string, delegates: readonly string[]) => {
      const verdict = mayDelegate({ ...facts, to }, { ...rules, delegates });
      return verdict.may ? null : verdict.say;
    };
    expect(said("x", ["b", "c"])).toBe('Agent a may not ask "x". It may ask: b, c.');
    expect(said("x", [])).toBe('Agent a may not ask "x". It may ask nobody.');
    expect(said("y".repeat(65), ["b"])).toContain(`"${"y".repeat(64)}"`);
    const many = (inTurn: number) => mayDelegate({ ...facts, inTurn }, { ...rules, maxPerTurn: 1 });
    expect(many(1)).toMatchObject({ say: expect.stringContaining("One task is handed on") });
    expect(many(2)).toMatchObject({ say: expect.stringContaining("2 tasks are handed on") });
  });
});

describe("a question in a chat", () => {
  const here: ChatAddress = { channel: "telegram", account: "default", chat: "1" };
  const crowd = { here: 0, everywhere: 0 };
  const caller = (more: object = {}) => ({ origin: here, ...more }) as unknown as Pick<Caller, "cause" | "origin">;
  const confirm: ChatQuestion = { kind: "confirm", title: "ok?" };
  const select = (...options: readonly string[]): ChatQuestion => ({ kind: "select", title: "which?", options });
  const input: ChatQuestion = { kind: "input", title: "what?" };
  const many = (count: number) => Array.from({ length: count }, (_, at) => `o${at}`);

  test.each<[what: string, question: ChatQuestion, of: ReturnType<typeof caller>, crowd: typeof crowd, asked: boolean]>(
    [
      ["of a chat", confirm, caller(), crowd, true],
      ["of somebody who reacted", confirm, caller({ cause: "reaction" }), crowd, true],
      ["of a job", confirm, caller({ cause: "cron" }), crowd, false],
      ["of another agent", confirm, caller({ origin: { ...here, channel: "delegate" } }), crowd, false],
      ["that is the tenth here", confirm, caller(), { here: 9, everywhere: 9 }, true],
      ["that is the eleventh here", confirm, caller(), { here: 10, everywhere: 10 }, false],
      ["that is the last of all", confirm, caller(), { here: 0, everywhere: 199 }, true],
      ["that is one too many of all", confirm, caller(), { here: 0, everywhere: 200 }, false],
      ["of full length", { kind: "confirm", title: "t".repeat(4_000), text: "x".repeat(4_000) }, caller(), crowd, true],
      [
        "that is longer",
        { kind: "confirm", title: "t".repeat(4_000), text: "x".repeat(4_001) },
        caller(),
        crowd,
        false,
      ],
      ["with long options", select("x".repeat(7_995)), caller(), crowd, false],
      [
        "with a long prefill",
        { kind: "input", title: "t", prefill: "x".repeat(4_000), placeholder: "y".repeat(4_000) },
        caller(),
        crowd,
        false,
      ],
      ["with no options", select(), caller(), crowd, false],
      ["with a hundred options", select(...many(100)), caller(), crowd, true],
      ["with more options", select(...many(101)), caller(), crowd, false],
    ],
  )("%s is asked as it should be", (...[, question, of, here_, asked]) => {
    const why = whyNotAsk(question, of, here_);
    if (asked) expect(why).toBeNull();
    else expect(why).toEndWith(".");
  });

  test("comes from what began the turn", () => {
    expect([causeOf(caller()), causeOf(caller({ cause: "reaction" })), causeOf(caller({ cause: "webhook" }))]).toEqual([
      "chat",
      "chat",
      "webhook",
    ]);
    expect(causeOf(caller({ cause: "chat", origin: { ...here, channel: "delegate" } }))).toBe("delegate");
  });

  const ME = "telegram:user:1" as Principal;
  const OTHER = "telegram:user:2" as Principal;
  test.each<[who: Principal, role: Role, at: ChatAddress | undefined, verdict: string]>([
    [ME, "guest", here, "yes"],
    [OTHER, "owner", here, "yes"],
    [OTHER, "member", here, "not_yours"],
    [ME, "owner", { ...here, chat: "2" }, "over"],
    [ME, "owner", { ...here, account: "x" }, "over"],
    [ME, "owner", { ...here, channel: "discord" }, "over"],
    [ME, "owner", { ...here, thread: "5" }, "over"],
    [ME, "guest", undefined, "yes"],
  ])("is answered by %s as %s (%#)", (principal, role, at, verdict) => {
    const may: string = mayAnswer({ principal: ME, to: here }, { principal, role, ...(at ? { at } : {}) });
    expect(may).toBe(verdict);
  });

  const listening: Listening = { principal: ME, to: here, messageId: "9", wantsText: true, plain: false };
  const message = (more: object = {}): InboundMessage =>
    ({
      address: here,
      scope: "dm",
      sender: { principal: ME, name: "" },
      text: "words",
      quoted: [],
      attachments: [],
      mentioned: false,
      answering: { to: null, text: "words" },
      ...more,
    }) as unknown as InboundMessage;
  const reply = (to: string, text = "words") => ({ answering: { to, text } });
  test.each<[what: string, one: Partial<Listening>, said: InboundMessage, role: Role, hears: boolean]>([
    ["the next words in a direct chat", {}, message(), "guest", true],
    ["the next words in a group", {}, message({ scope: "group" }), "guest", false],
    ["words where buttons are wanted", { wantsText: false }, message(), "guest", false],
    ["a reply where buttons are wanted", { wantsText: false }, message(reply("9")), "guest", true],
    ["a reply to something else", {}, message(reply("8")), "guest", false],
    ["a reply of an owner", {}, message({ ...reply("9"), sender: { principal: OTHER } }), "owner", true],
    ["a reply of another member", {}, message({ ...reply("9"), sender: { principal: OTHER } }), "member", false],
    ["the next words of somebody else", {}, message({ sender: { principal: OTHER } }), "owner", false],
    ["words in another chat", {}, message({ address: { ...here, chat: "2" } }), "guest", false],
    ["no words", {}, message(reply("9", " ")), "guest", false],
    ["a file", {}, message({ attachments: [{}] }), "guest", false],
    ["a forward", {}, message({ quoted: [{ how: "forward", text: "x" }] }), "guest", false],
    ["words of a job", {}, message({ origin: "cron" }), "guest", false],
    ["words that cannot be an answer", {}, message({ answering: undefined }), "guest", false],
    ["words on a plain channel", { plain: true }, message({ answering: undefined }), "guest", true],
    [
      "words to us in a group of a plain channel",
      { plain: true },
      message({ answering: undefined, scope: "group", mentioned: true }),
      "guest",
      true,
    ],
    [
      "words to others in a group of a plain channel",
      { plain: true },
      message({ answering: undefined, scope: "group" }),
      "guest",
      false,
    ],
  ])("hears %s as it should", (...[, one, said, role, hears]) => {
    expect(textFor({ ...listening, ...one }, said, role)).toBe(hears ? "words" : null);
  });

  const words = (text: string): GivenAnswer => ({ kind: "words", text });
  const press = (at: number): GivenAnswer => ({ kind: "press", at });
  const value = (given: boolean | string | null): GivenAnswer => ({ kind: "value", value: given });
  test.each<[question: ChatQuestion, given: GivenAnswer, answer: unknown]>([
    ...["yes", "Y", " ok ", "1", "TRUE"].map(
      (word) => [confirm, words(word), true] as [ChatQuestion, GivenAnswer, unknown],
    ),
    ...["no", "N", "2", "false"].map((word) => [confirm, words(word), false] as [ChatQuestion, GivenAnswer, unknown]),
    [confirm, words("maybe"), undefined],
    [confirm, press(0), true],
    [confirm, press(1), false],
    [confirm, press(2), undefined],
    [confirm, value(true), true],
    [confirm, value("yes"), true],
    [confirm, value(null), null],
    [select("Tea", "2", "tea"), words("tea"), "tea"],
    [select("Tea", "2"), words(" tea "), "Tea"],
    [select("a", "2", "c"), words("2"), "2"],
    [select("a", "b"), words("2"), "b"],
    [select("a", "b"), words("2."), "b"],
    [select("a", "b"), words("1)"), "a"],
    [select("a", "b"), words("3"), undefined],
    [select("a", "b"), words("0"), undefined],
    [select("a", "b"), press(1), "b"],
    [select("a", "b"), press(2), undefined],
    [select("a", "b"), value("b"), "b"],
    [select("a", "b"), value("2"), undefined],
    [input, words(" as it is "), " as it is "],
    [input, value("x"), "x"],
    [input, value(true), undefined],
    [input, press(0), undefined],
    [input, words("x".repeat(32_000)), "x".repeat(32_000)],
    [input, words("x".repeat(32_001)), undefined],
  ])("%# takes an answer that fits", (question, given, expected) => {
    const read = readAnswer(question, given);
    if (read.kind === "unfit") return expect(expected).toBeUndefined();
    const { answer } = read;
    const got =
      answer.kind === "none"
        ? null
        : answer.kind === "confirmed"
          ? answer.yes
          : answer.kind === "chosen"
            ? answer.option
            : answer.text;
    expect(got).toEqual(expected as never);
  });
});

describe("the bill of a turn", () => {
  const batch = (message: object | null, attempt = 1) =>
    ({ agentId: "a", turnId: "t1", attempt, entries: message ? [{ message }] : [] }) as unknown as Batch;
  const said = { sender: { principal: "p" }, scope: "dm", address: { channel: "telegram" } };
  const usage = { inputTokens: 1, outputTokens: 0, costUsd: 0 };
  const billed: unknown[] = [];
  const budget = {
    ask: () => ({ may: false, because: "limit", say: "No money." }),
    bill: (work: unknown, spent: unknown) => (billed.push([work, spent]), { spent }),
    record: async () => undefined,
  } as never;

  test.each([
    [{ origin: "cron", scope: "group" }, "cron"],
    [{ origin: "chat", scope: "group" }, "group"],
    [{ origin: "reaction", scope: "group" }, "group"],
    [{ scope: "dm" }, "chat"],
    [{ scope: "dm", address: { channel: "api" } }, "api"],
    [{ scope: "group", address: { channel: "api" } }, "group"],
  ])("goes on the account of %p", (more, origin) => {
    const found: string = originOf({ ...said, ...more } as never);
    expect(found).toBe(origin);
  });

  test("is asked for before the first attempt, and nobody is told where nobody is there", () => {
    const reply = (message: object | null, attempt = 1) =>
      refusedEnd(budget, batch(message, attempt))?.reply.map(({ message: { text } }) => text);
    expect(reply(said)).toEqual(["No money."]);
    expect(reply({ ...said, origin: "cron" })).toEqual([]);
    expect([reply(said, 2), reply(null)]).toEqual([undefined, undefined]);
  });

  test("is written for what was used, and for nothing else", async () => {
    const bill = (own: object | undefined, message: object | null = said) =>
      billOf(budget, batch(message), { own, model: "m" } as never);
    expect(bill(undefined)).toBeUndefined();
    expect(bill({ ...usage, inputTokens: 0 })).toBeUndefined();
    expect(bill(usage, null)).toBeUndefined();
    expect(bill(usage)).toBeDefined();
    expect(bill({ inputTokens: 0, outputTokens: 0, costUsd: 0.1 })).toBeDefined();
    billed.length = 0;
    await recordLost(budget, batch(said, 3), { lost: { ...usage, inputTokens: 0 } } as never);
    await recordLost(budget, batch(null, 3), { lost: usage } as never);
    expect(billed).toEqual([]);
    await recordLost(budget, batch(said, 3), { lost: { ...usage, model: "m" } } as never);
    expect(billed).toEqual([
      [
        { agentId: "a", principal: "p", origin: "chat" },
        { id: "t1:3", model: "m", usage },
      ],
    ]);
  });
});

describe("the end of a turn", () => {
  test.each([
    ["429 slow down", 'x answered with status 429: "slow down"'],
    ["Error: 503 oops", 'x answered with status 503: "Error: 503 oops"'],
    ["got status code 500 here", 'x answered with status 500: "got status code 500 here"'],
    ['400 {"error":{"message":"bad \\"key\\""}}', 'x answered with status 400: "bad "key""'],
    ["", "x failed."],
    ["a\n b", 'x failed: "a b"'],
    ["y".repeat(300), `x failed: "${"y".repeat(300)}"`],
    ["y".repeat(301), `x failed: "${"y".repeat(300)}…"`],
  ])("after trouble with the provider (%#) has its words", (detail, words) => {
    expect(providerSentence({ code: "provider_down", detail, model: "x/y" })).toStartWith(`${words} `);
  });

  test("that is not the provider's failure has none", () => {
    expect(providerSentence({ code: "agent_timeout" as never, detail: "x", model: "x/y" })).toBeNull();
  });

  test("holds two thousand characters of why, and all that was used", () => {
    expect(failure("agent_timeout", "x".repeat(2_001)).error?.detail).toBe("x".repeat(2_000));
    const used = { inputTokens: 1, outputTokens: 2, costUsd: 3 };
    expect(addUsage(used, used)).toStrictEqual({ inputTokens: 2, outputTokens: 4, costUsd: 6 });
    expect(addUsage({ ...used, cachedTokens: 1 }, used)).toEqual({
      inputTokens: 2,
      outputTokens: 4,
      costUsd: 6,
      cachedTokens: 1,
    });
  });

  test("in a group points with its first part at the newest message of a person", () => {
    const entry = (id: string, message: object) => ({ id, message: { scope: "group", ...message } });
    const end = {
      reply: [
        { part: 0, message: { kind: "reply", text: "a" } },
        { part: 1, message: { kind: "reply", text: "b" } },
      ],
    } as const;
    const replies = (...entries: readonly object[]) => {
      const { reply }: { readonly reply: readonly ReplyPart[] } = withReplyTo<{ readonly reply: readonly ReplyPart[] }>(
        { entries: entries as never },
        end,
      );
      return reply.map(({ message }) => message.replyTo);
    };
    expect(replies(entry("1", {}), entry("2", {}), entry("3", { origin: "cron" }))).toEqual(["2", undefined]);
    expect(replies(entry("1", { scope: "dm" }))).toEqual([undefined, undefined]);
  });
});
