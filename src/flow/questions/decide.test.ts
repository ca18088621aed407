/** Who may be asked, who may answer, and which words are an answer: one row for each case. */
import { describe, expect, test } from "bun:test";
import type { Answerer, ChatQuestion, GivenAnswer } from "../../contracts/channels/question.ts";
import type { ChatAddress, InboundMessage, MessageOrigin } from "../../contracts/chat.ts";
import type { MediaId, Principal, Role } from "../../contracts/ids.ts";
import {
  type Listening,
  MAX_ANSWER_CHARS,
  MAX_OPTIONS,
  MAX_QUESTION_CHARS,
  MAX_WAITING,
  MAX_WAITING_PER_SESSION,
  mayAnswer,
  readAnswer,
  whyNotAsk,
  textFor,
} from "./decide.ts";
import { NO_BUTTONS, present, type Presented } from "./present.ts";

const ANN = "telegram:user:1" as Principal;
const BEN = "telegram:user:2" as Principal;
const HERE: ChatAddress = { channel: "telegram", account: "default", chat: "1" };
const TEA: ChatQuestion = { kind: "select", title: "Which one?", options: ["tea", "coffee"] };
const SURE: ChatQuestion = { kind: "confirm", title: "Sure?", text: "It is final." };
const NAME: ChatQuestion = { kind: "input", title: "Your name?", placeholder: "Ann" };
const NOBODY = { here: 0, everywhere: 0 };

describe("a question", () => {
  test.each<[MessageOrigin | undefined, RegExp | null]>([
    [undefined, null],
    ["chat", null],
    ["cron", /a scheduled job/],
    ["heartbeat", /the heartbeat/],
    ["webhook", /a webhook/],
    ["delegate", /another agent/],
  ])("of a turn begun by %p is asked where somebody is there", (cause, because) => {
    const answer = whyNotAsk(TEA, { origin: HERE, ...(cause ? { cause } : {}) }, NOBODY);
    if (because === null) expect(answer).toBeNull();
    else expect(answer).toMatch(because);
  });

  test("of a turn that another agent asked for is not asked", () => {
    expect(whyNotAsk(TEA, { origin: { ...HERE, channel: "delegate" } }, NOBODY)).toMatch(/another agent/);
  });

  test.each<[string, ChatQuestion, Partial<typeof NOBODY>, RegExp]>([
    ["one too many in its session", TEA, { here: MAX_WAITING_PER_SESSION }, /Too many/],
    ["one too many in the gateway", TEA, { everywhere: MAX_WAITING }, /Too many/],
    ["too long to be shown", { ...NAME, title: "x".repeat(MAX_QUESTION_CHARS) }, {}, /too long/],
    ["too long in what is final", { ...SURE, text: "x".repeat(MAX_QUESTION_CHARS) } as ChatQuestion, {}, /too long/],
    ["too long in its options", { ...TEA, options: ["x".repeat(MAX_QUESTION_CHARS)] } as ChatQuestion, {}, /too long/],
    ["too long in its example", { ...NAME, placeholder: "x".repeat(MAX_QUESTION_CHARS) }, {}, /too long/],
    ["too long in what is there", { ...NAME, prefill: "x".repeat(MAX_QUESTION_CHARS) }, {}, /too long/],
    ["a choice of nothing", { ...TEA, options: [] } as ChatQuestion, {}, /nothing to choose/],
    [
      "a choice of too much",
      { ...TEA, options: Array(MAX_OPTIONS + 1).fill("a") } as ChatQuestion,
      {},
      /too many options/,
    ],
  ])("that is %s is not asked", (_what, question, crowd, because) => {
    expect(whyNotAsk(question, { origin: HERE }, { ...NOBODY, ...crowd })).toMatch(because);
  });

  test.each<[string, ChatQuestion, Partial<typeof NOBODY>]>([
    ["the last one in its session", TEA, { here: MAX_WAITING_PER_SESSION - 1 }],
    ["the last one in the gateway", TEA, { everywhere: MAX_WAITING - 1 }],
    ["as long as it may be", { kind: "input", title: "x".repeat(MAX_QUESTION_CHARS) }, {}],
    ["a choice of as much as there may be", { ...TEA, options: Array(MAX_OPTIONS).fill("a") } as ChatQuestion, {}],
  ])("that is %s is asked", (_what, question, crowd) => {
    expect(whyNotAsk(question, { origin: HERE }, { ...NOBODY, ...crowd })).toBeNull();
  });
});

describe("a press", () => {
  test.each<[string, Answerer, ReturnType<typeof mayAnswer>]>([
    ["of the person it is for", { principal: ANN, role: "member", at: HERE }, "yes"],
    ["of an owner", { principal: BEN, role: "owner", at: HERE }, "yes"],
    ["of an owner who is in no chat", { principal: BEN, role: "owner" }, "yes"],
    ["of another member", { principal: BEN, role: "member", at: HERE }, "not_yours"],
    ["of a guest", { principal: BEN, role: "guest", at: HERE }, "not_yours"],
    ["in another chat", { principal: ANN, role: "owner", at: { ...HERE, chat: "2" } }, "over"],
    ["in another account", { principal: ANN, role: "owner", at: { ...HERE, account: "b" } }, "over"],
    ["in another thread", { principal: ANN, role: "owner", at: { ...HERE, thread: "7" } }, "over"],
    ["in another channel", { principal: ANN, role: "owner", at: { ...HERE, channel: "discord" } }, "over"],
  ])("%s: %p is %s", (_what, by, expected) => {
    expect(mayAnswer({ principal: ANN, to: HERE }, by)).toBe(expected);
  });
});

const file = { mediaId: "m1" as MediaId, name: "a.png", mimeType: "image/png", bytes: 1 };
const message = (more: Partial<InboundMessage> = {}): InboundMessage => ({
  eventId: "1",
  fingerprint: "",
  address: HERE,
  scope: "dm",
  sender: { principal: ANN, name: "Ann" },
  text: "words",
  quoted: [],
  attachments: [],
  mentioned: false,
  receivedAt: 1,
  answering: { to: null, text: "words" },
  ...more,
});
const reply = (to: string) => ({ answering: { to, text: "words" } });
const by = (principal: Principal) => ({ sender: { principal, name: "" } });
const without = ({ answering: _answering, ...rest }: InboundMessage): InboundMessage => rest;

describe("words", () => {
  const input: Listening = { principal: ANN, to: HERE, messageId: "9", wantsText: true, plain: false };
  const choice: Listening = { ...input, wantsText: false };
  const plain: Listening = { ...input, messageId: null, plain: true };
  const inGroup = { scope: "group" } as const;
  test.each<[string, Listening, InboundMessage, `${Role} ${boolean}`]>([
    ["the next ones in a direct chat", input, message(), "member true"],
    ["a reply to the question", input, message(reply("9")), "member true"],
    ["a reply to something else", input, message(reply("8")), "member false"],
    ["of somebody else", input, message(by(BEN)), "member false"],
    ["of an owner who does not reply", input, message(by(BEN)), "owner false"],
    ["a reply of an owner", input, message({ ...reply("9"), ...by(BEN) }), "owner true"],
    ["a reply of another member", input, message({ ...reply("9"), ...by(BEN) }), "member false"],
    ["in another chat", input, message({ address: { ...HERE, chat: "2" } }), "member false"],
    ["in a group, without a reply", input, message(inGroup), "member false"],
    ["in a group, with a mention only", input, message({ ...inGroup, mentioned: true }), "member false"],
    ["in a group, as a reply", input, message({ ...inGroup, ...reply("9") }), "member true"],
    ["beside buttons", choice, message(), "member false"],
    ["beside buttons, as a reply", choice, message(reply("9")), "member true"],
    ["with a file", input, message({ attachments: [file] }), "member false"],
    ["nothing but blanks", input, message({ answering: { to: null, text: " \n" } }), "member false"],
    ["that changed earlier ones", input, without(message()), "member false"],
    ["of a job", input, message({ origin: "cron" }), "member false"],
    ["in a chat without buttons", plain, without(message()), "member true"],
    ["in a group without buttons", plain, without(message(inGroup)), "member false"],
    ["in a group without buttons, mentioned", plain, without(message({ ...inGroup, mentioned: true })), "member true"],
    ["of another in a chat without buttons", plain, without(message(by(BEN))), "owner false"],
  ])("%s", (_what, one, said, expected) => {
    const [role, isAnswer] = expected.split(" ");
    expect(textFor(one, said, role as Role)).toBe(isAnswer === "true" ? "words" : null);
  });
});

describe("an answer", () => {
  const words = (text: string): GivenAnswer => ({ kind: "words", text });
  const value = (given: string | boolean | null): GivenAnswer => ({ kind: "value", value: given });
  const press = (at: number): GivenAnswer => ({ kind: "press", at });
  const PADDED: ChatQuestion = { kind: "select", title: "Which one?", options: [" tea", "coffee "] };
  const YEARS: ChatQuestion = { kind: "select", title: "When?", options: ["2", "1", "3."] };

  test.each<[ChatQuestion, GivenAnswer, unknown]>([
    [TEA, press(1), { kind: "chosen", option: "coffee" }],
    [TEA, words(" Coffee "), { kind: "chosen", option: "coffee" }],
    [PADDED, words("tea"), { kind: "chosen", option: " tea" }],
    [PADDED, words("Coffee"), { kind: "chosen", option: "coffee " }],
    [TEA, words("1"), { kind: "chosen", option: "tea" }],
    [TEA, words("2."), { kind: "chosen", option: "coffee" }],
    [TEA, value("tea"), { kind: "chosen", option: "tea" }],
    [YEARS, words("2"), { kind: "chosen", option: "2" }], // said exactly, before it is a number
    [YEARS, words("3"), { kind: "chosen", option: "3." }],
    [SURE, press(0), { kind: "confirmed", yes: true }],
    [SURE, press(1), { kind: "confirmed", yes: false }],
    [SURE, words("YES"), { kind: "confirmed", yes: true }],
    [SURE, words("n"), { kind: "confirmed", yes: false }],
    [SURE, value(false), { kind: "confirmed", yes: false }],
    [NAME, words(" Ann\nLee "), { kind: "said", text: " Ann\nLee " }],
    [NAME, value(""), { kind: "said", text: "" }],
    [TEA, value(null), { kind: "none" }],
    [NAME, value(null), { kind: "none" }],
  ])("%j with %j is %j", (question, given, answer) => {
    expect(readAnswer(question, given)).toMatchObject({ kind: "fits", answer });
  });

  test.each<[ChatQuestion, GivenAnswer]>([
    [TEA, press(2)],
    [TEA, press(-1)],
    [TEA, words("0")],
    [TEA, words("3")],
    [TEA, words("milk")],
    [TEA, value("1")],
    [TEA, value("Tea")],
    [TEA, value(true)],
    [SURE, press(2)],
    [SURE, words("perhaps")],
    [NAME, press(0)],
    [NAME, value(true)],
    [NAME, words("x".repeat(MAX_ANSWER_CHARS + 1))],
  ])("%j is not answered by %j", (question, given) => {
    expect(readAnswer(question, given)).toMatchObject({ kind: "unfit" });
  });

  test("shows to others what was chosen, and not what was written", () => {
    expect(readAnswer(TEA, press(0))).toMatchObject({ said: "tea" });
    expect(readAnswer(SURE, words("ok"))).toMatchObject({ said: "Yes" });
    expect(readAnswer(NAME, words("secret"))).not.toHaveProperty("said");
  });
});

describe("what people read", () => {
  const buttons = { maxButtons: 3, maxLabelChars: 10 };
  const long: ChatQuestion = { kind: "select", title: "Which?", options: ["a", "a very long option"] };
  const full: ChatQuestion = { kind: "select", title: "Which?", options: ["a", "b", "0123456789"] };
  const blank: ChatQuestion = { kind: "select", title: "Which?", options: ["a", " "] };
  const many: ChatQuestion = { kind: "select", title: "Which?", options: ["a", "b", "c", "d"] };
  test.each<[string, ChatQuestion, typeof buttons, Presented]>([
    ["a choice", TEA, buttons, { text: "Which one?", labels: ["tea", "coffee"] }],
    ["a choice that just fits", full, buttons, { text: "Which?", labels: ["a", "b", "0123456789"] }],
    ["a choice with a blank option", blank, buttons, { text: "Which?\n1. a\n2.  ", labels: ["1", "2"] }],
    [
      "a choice whose options are long",
      long,
      buttons,
      { text: "Which?\n1. a\n2. a very long option", labels: ["1", "2"] },
    ],
    [
      "a choice of many",
      many,
      buttons,
      { text: "Which?\n1. a\n2. b\n3. c\n4. d\nAnswer with a number from 1 to 4.", labels: [] },
    ],
    ["a yes", SURE, buttons, { text: "Sure?\nIt is final.", labels: ["Yes", "No"] }],
    ["a yes without buttons", SURE, NO_BUTTONS, { text: "Sure?\nIt is final.\nAnswer with yes or no.", labels: [] }],
    ["words", NAME, buttons, { text: "Your name?\n(Ann)", labels: [] }],
    [
      "words to change",
      { kind: "input", title: "Text?", prefill: "old" },
      buttons,
      { text: "Text?\nIt says now:\nold", labels: [] },
    ],
  ])("%s", (_what, question, how, expected) => {
    expect(present(question, how)).toEqual(expected);
  });
});
