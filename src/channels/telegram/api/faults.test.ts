/** What each answer of Telegram means for the outbox, for approvals and for previews, and how accounts get their settings: as tables. */
import { describe, expect, test } from "bun:test";
import type { TelegramConfig } from "../../../config/index.ts";
import { SendError } from "../../../contracts/channel.ts";
import { secret } from "../../../kit/secret.ts";
import { approvalPlatform } from "../inbound/approvals.ts";
import { createQuestionMessages } from "../inbound/question-messages.ts";
import { accountsOf } from "../settings.ts";
import type { BotApi } from "./bot-api.ts";
import { Fault, faultOf, isRefused, NotTelegram, toSendError } from "./faults.ts";

const answer = (error_code: number, description = "no", parameters = {}) => ({ error_code, description, parameters });
const network = (code: string) => ({ error: Object.assign(new Error("x"), { code }) });

describe("telegram: an answer", () => {
  test.each([
    ["a limit with its time", answer(429, "slow", { retry_after: 7 }), { kind: "limited", retryAfterMs: 7_000 }],
    ["a limit without a time", answer(429), { kind: "limited", retryAfterMs: 5_000 }],
    ["a conflict", answer(409, "taken"), { kind: "conflict", detail: "409 taken" }],
    ["a token that was refused", answer(401), { kind: "unauthorized" }],
    ["a token that is not known", answer(404, "Not Found"), { kind: "unauthorized" }],
    [
      "a thing that is not there",
      answer(404, "no such file"),
      { kind: "refused", code: 404, detail: "404 no such file" },
    ],
    ["a server in trouble", answer(500, "oops"), { kind: "down", detail: "500 oops" }],
    ["a refusal", answer(400, "bad"), { kind: "refused", code: 400, detail: "400 bad" }],
    ["a refusal just below a server's", answer(499, "odd"), { kind: "refused", code: 499, detail: "499 odd" }],
    [
      "a move",
      answer(400, "moved", { migrate_to_chat_id: -5 }),
      { kind: "refused", code: 400, detail: "400 moved", movedTo: "-5" },
    ],
    ["a long refusal", answer(400, "x".repeat(300)), { kind: "refused", code: 400, detail: `400 ${"x".repeat(196)}` }],
    [
      "something between",
      { error: new NotTelegram(502) },
      { kind: "down", detail: "status 502 from something that is not the Bot API" },
    ],
    [
      "something between that is busy",
      new NotTelegram(503),
      { kind: "down", detail: "status 503 from something that is not the Bot API" },
    ],
    [
      "something between that may have passed it on",
      new NotTelegram(504),
      { kind: "lost", detail: "status 504 from something that is not the Bot API" },
    ],
    ["no network", network("ECONNREFUSED"), { kind: "unreached", detail: "network: ECONNREFUSED" }],
    ["a broken connection", network("ECONNRESET"), { kind: "lost", detail: "network: ECONNRESET" }],
    ["an abort", { error: new DOMException("x", "AbortError") }, { kind: "lost", detail: "network: AbortError" }],
    ["nothing that is known", 5, { kind: "lost", detail: "network: unknown" }],
  ])("that is %s is told apart by its effect", (_what, error, info) => {
    const told: unknown = faultOf(error).info;
    expect(told).toEqual(info);
  });

  test.each(
    "ConnectionRefused ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH FailedToOpenSocket DNSException CERT_HAS_EXPIRED ERR_TLS_CERT UNABLE_TO_VERIFY SELF_SIGNED_CERT DEPTH_ZERO_SELF_SIGNED".split(
      " ",
    ),
  )("that is no answer because of %s means that nothing was sent", (code) => {
    expect(faultOf(network(code)).info.kind).toBe("unreached");
  });

  test("keeps a fault that is known already, also one that the library wrapped", () => {
    const fault = new Fault({ kind: "unauthorized" });
    expect([faultOf(fault) === fault, faultOf({ error: fault }) === fault]).toEqual([true, true]);
    expect(fault.message).toBe("Telegram does not know this bot token");
    expect(new Fault({ kind: "limited", retryAfterMs: 1_500 }).message).toBe("Telegram asks for a pause of 2 s");
  });

  test.each([
    ["a limit", answer(429, "slow", { retry_after: 7 }), "limited", "limited"],
    ["a refusal", answer(400), "permanent", "permanent"],
    ["a lost answer", network("ECONNRESET"), "lost", "retry"],
    ["no network", network("ECONNREFUSED"), "retry", "retry"],
    ["a server in trouble", answer(500), "retry", "retry"],
    ["a refused token", answer(401), "retry", "retry"],
    ["a conflict", answer(409), "retry", "retry"],
  ])("that is %s is told to the outbox by what may follow", (_what, error, kind, repeatable) => {
    const kinds: readonly string[] = [toSendError(error).kind, toSendError(error, true).kind];
    expect(kinds).toEqual([kind, repeatable]);
    expect(toSendError(error).retryAfterMs).toBe(kind === "limited" ? 7_000 : undefined);
  });

  test("that the outbox knows already is told as it is, and only a refusal can be looked at for words", () => {
    const known = new SendError("retry", "x");
    expect(toSendError(known)).toBe(known);
    expect(isRefused(faultOf(answer(400, "photo too big")), /photo/)).toBe(true);
    expect(isRefused(faultOf(answer(400, "no")), /photo/)).toBe(false);
    expect(isRefused(faultOf(answer(500, "photo")), /photo/)).toBe(false);
    expect(isRefused(new Error("photo"), /photo/)).toBe(false);
  });

  test.each([
    ["a limit", 7_000, faultOf(answer(429, "slow", { retry_after: 7 }))],
    ["no network", 1_000, faultOf(network("ECONNREFUSED"))],
    ["a server in trouble", 1_000, faultOf(answer(500))],
    ["a lost answer", null, faultOf(network("ECONNRESET"))],
    ["a refusal", null, faultOf(answer(400))],
    ["anything else", null, new Error("x")],
  ])("that is %s to an approval is followed by another try after %p", (_what, ms, error) => {
    expect(approvalPlatform({} as BotApi, "telegram", "default").retryAfterMs(error)).toBe(ms);
  });

  test("to a question has room for twenty buttons of sixty letters", () => {
    const { maxButtons, maxLabelChars } = createQuestionMessages(
      { api: {} as BotApi, log: {} as never },
      new AbortController().signal,
    );
    expect([maxButtons, maxLabelChars]).toEqual([20, 60]);
  });
});

describe("telegram: the settings of an account", () => {
  const [common, own] = [secret("common-token"), secret("own-token")];
  const above = {
    enabled: true,
    apiRoot: "https://api.example",
    mode: "polling",
    streamMode: "edit",
    mediaMaxMb: 20,
    ackReaction: "👀",
    botToken: common,
    accounts: {},
  };
  const accounts = (more: object) => accountsOf({ ...above, ...more } as unknown as TelegramConfig);
  const fromAbove = {
    account: "default",
    token: common,
    apiRoot: "https://api.example",
    mode: "polling",
    webhookUrl: null,
    webhookSecret: null,
    streamMode: "edit",
    mediaMaxMb: 20,
    ackReaction: "👀",
  } as const;

  test.each([
    ["a channel that is off", { enabled: false }, []],
    ["one bot", {}, ["default"]],
    ["no token", { botToken: undefined }, []],
    ["a bot beside it", { accounts: { work: { botToken: own } } }, ["default", "work"]],
    ["a bot that is off", { accounts: { work: { botToken: own, enabled: false } } }, ["default"]],
    ["a bot without a token", { accounts: { work: {} } }, ["default"]],
    ["a default bot of its own", { accounts: { default: { botToken: own } } }, ["default"]],
    ["a default bot that is off", { accounts: { default: { enabled: false } } }, []],
  ])("for %s", (_what, more, names) => {
    expect(accounts(more).map(({ account }) => account)).toEqual(names);
  });

  test("that it does not say itself hold from above", () => {
    const all: unknown = accounts({});
    expect(all).toEqual([fromAbove]);
    const says = {
      botToken: own,
      mode: "webhook",
      webhookSecret: own,
      streamMode: "off",
      mediaMaxMb: 1,
      ackReaction: "",
    };
    const hooks = { webhookUrl: "https://g.example", webhookSecret: common };
    const { botToken: token, ...rest } = says;
    const single: unknown = accounts({ ...hooks, botToken: undefined, accounts: { work: says } });
    expect(single).toEqual([{ ...fromAbove, ...rest, token, account: "work", webhookUrl: "https://g.example" }]);
    expect(accounts(hooks)[0]?.webhookSecret).toBe(common);
  });
});
