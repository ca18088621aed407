/** Asking people: in order, once, in time, and never without an end. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../../contracts/agent.ts";
import type { Channel } from "../../contracts/channel.ts";
import type { AskedQuestion, ChatQuestion, QuestionNews } from "../../contracts/channels/question.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { NewPost, Posted } from "../../contracts/store/posts.ts";
import type { Verdict } from "../../contracts/routing.ts";
import { deferred } from "../../kit/deferred.ts";
import { writeOut } from "../../kit/marks/written-out.ts";
import { secret } from "../../kit/secret.ts";
import { createEvents, createRedactor } from "../../observe/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { keptPerRound } from "../../testing/memory-growth.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { unhandledIn } from "../../testing/unhandled.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { MAX_NOTE_CHARS, MAX_NOTES_PER_TURN } from "./notes.ts";
import { createQuestions } from "./questions.ts";
import { answerQuestion } from "./answer-question.ts";

const WAIT_MS = 60_000;
const ANN = "telegram:user:1" as Principal;
const BEN = "telegram:user:2" as Principal;
const NEVER = new AbortController().signal;
const HERE = { channel: "telegram", account: "default", chat: "1" };
const of: Caller = {
  sessionKey: "agent:default:telegram:dm:1" as SessionKey,
  turnId: "t1" as TurnId,
  agentId: "default" as AgentId,
  principal: ANN,
  role: "member",
  origin: HERE,
};
const TEA: ChatQuestion = { kind: "select", title: "Which one?", options: ["tea", "coffee"] };
const NAME: ChatQuestion = { kind: "input", title: "Your name?" };
const SECRET = "operator-token-42";
const HIDDEN = "\u202e";
const WRITTEN = writeOut(HIDDEN);
const byAnn = { principal: ANN, role: "member", at: HERE } as const;

function world(options: { readonly plain?: true; readonly closed?: true } = {}) {
  const clock = createFakeClock();
  const log = recordingLog();
  const events = createEvents({ log });
  const news: QuestionNews[] = [];
  events.on("question", (one) => void news.push(one));
  const shown: AskedQuestion[] = [];
  const closed: string[] = [];
  const posts: Omit<NewPost, "at">[] = [];
  const state = {
    holding: null as Promise<void> | null,
    failing: false,
    close: null as (() => Promise<void>) | null,
    posted: { kind: "posted", id: "p" } as Posted,
  };
  const board: Channel["questions"] = {
    maxButtons: 20,
    maxLabelChars: 60,
    async show(asked) {
      await state.holding;
      if (state.failing) throw new Error("the chat is gone");
      shown.push(asked);
      return { messageId: `m${shown.length}`, close: state.close ?? (async ({ words }) => void closed.push(words)) };
    },
  };
  const channel = (options.plain ? {} : { questions: board }) as Channel;
  const poster = {
    async post(post: Omit<NewPost, "at">) {
      posts.push(post);
      return state.posted;
    },
  };
  const channels = { get: () => (options.closed ? undefined : channel) };
  const redactor = createRedactor();
  redactor.add(secret(SECRET));
  const deps = { clock, log, events, ids: createSeqIds(), poster, channels, mask: redactor.mask };
  const questions = createQuestions(deps, () => ({ waitMs: WAIT_MS }));
  const ask = async (question: Parameters<typeof questions.ask>[0], more: Partial<Caller> = {}, signal = NEVER) => {
    const answer = waitForEnd("the end of a question", questions.ask(question, { ...of, ...more }, signal));
    answer.catch(() => undefined); // a test that looks at something else is over by then
    await clock.advance(0);
    return { answer, id: questions.pending().at(-1)?.id ?? "" };
  };
  const ends = () => news.flatMap(({ end }) => (end ? [`${end.how}: ${end.because}`] : []));
  return { clock, log, news, shown, closed, posts, state, questions, ask, ends };
}

const say = (text: string, more: Partial<InboundMessage> = {}): InboundMessage => ({
  eventId: "1",
  fingerprint: "",
  address: HERE,
  scope: "dm",
  sender: { principal: ANN, name: "Ann" },
  text,
  quoted: [],
  attachments: [],
  mentioned: true,
  receivedAt: 1,
  answering: { to: null, text },
  ...more,
});

describe("a question", () => {
  test.each([
    ["fails", () => Promise.reject(new Error("the chat is gone"))],
    [
      "throws",
      () => {
        throw new Error("the chat is gone");
      },
    ],
  ] as const)("whose buttons cannot be taken away is answered all the same: its channel %s", async (_how, close) => {
    const at = world();
    at.state.close = close;
    const unhandled = await unhandledIn(async () => {
      const { answer, id } = await at.ask(TEA);
      expect(at.questions.answer(id, { kind: "press", at: 1 }, byAnn)).toMatchObject({ kind: "taken" });
      expect(await answer).toEqual({ kind: "chosen", option: "coffee" });
      const shownLate = deferred<void>();
      at.state.holding = shownLate.promise;
      const late = await at.ask(TEA);
      await at.clock.advance(WAIT_MS);
      expect(await late.answer).toEqual({ kind: "none" });
      shownLate.resolve();
    });
    expect(unhandled).toEqual([]);
    expect(at.log.lines.filter(({ words }) => words === "end of a question not shown")).toHaveLength(2);
  });

  test("is shown, told to clients, answered once by a press, and taken away", async () => {
    const at = world();
    const { answer, id } = await at.ask(TEA);
    expect(at.shown).toMatchObject([{ id, to: HERE, of: ANN, text: "Which one?", labels: ["tea", "coffee"] }]);
    expect(at.news).toEqual([
      {
        id,
        question: TEA,
        sessionKey: of.sessionKey,
        turnId: of.turnId,
        principal: ANN,
        end: null,
        askedAt: at.clock.now(),
        expiresAt: at.clock.now() + WAIT_MS,
      },
    ]);
    expect(at.questions.answer(id, { kind: "press", at: 1 }, byAnn)).toEqual({ kind: "taken", say: "coffee" });
    expect(await answer).toEqual({ kind: "chosen", option: "coffee" });
    expect(at.news.at(-1)?.end).toEqual({ how: "answered", by: ANN, because: "Answered: coffee", said: "coffee" });
    expect(at.closed).toEqual(["Answered: coffee"]);
    const late = at.questions.answer(id, { kind: "press", at: 0 }, byAnn);
    expect(late).toEqual({ kind: "refused", because: "over", say: "This question is over." });
    expect([at.questions.pending(), at.clock.pending()]).toEqual([[], 0]);
  });

  test("is not answered by somebody else, in another chat, or with what is no answer", async () => {
    const at = world();
    const { answer, id } = await at.ask(TEA);
    const press = { kind: "press", at: 0 } as const;
    expect(at.questions.answer(id, press, { ...byAnn, principal: BEN })).toMatchObject({ because: "not_yours" });
    expect(at.questions.answer(id, press, { ...byAnn, at: { ...HERE, chat: "2" } })).toMatchObject({ because: "over" });
    expect(at.questions.answer(id, { kind: "press", at: 2 }, byAnn)).toMatchObject({ because: "unfit" });
    expect(at.questions.answer("made-up", press, byAnn)).toMatchObject({ because: "over" });
    expect(at.questions.pending()).toHaveLength(1);
    expect(at.questions.answer(id, press, { principal: BEN, role: "owner" })).toMatchObject({ kind: "taken" });
    expect(await answer).toEqual({ kind: "chosen", option: "tea" });
  });

  test.each([
    ["the house limit", {}, WAIT_MS],
    ["its asker's own shorter limit", { timeoutMs: 5_000 }, 5_000],
    ["the house limit where its asker would wait longer", { timeoutMs: WAIT_MS * 2 }, WAIT_MS],
  ])("that nobody answers ends after %s", async (_what, more, ms) => {
    const at = world();
    const { answer, id } = await at.ask({ ...TEA, ...more });
    await at.clock.advance(ms - 1);
    expect(at.questions.pending()).toHaveLength(1);
    await at.clock.advance(1);
    expect(await answer).toEqual({ kind: "none" });
    expect(at.ends()).toEqual(["expired: Nobody answered in time."]);
    expect(at.closed).toEqual(["This question is over. Nobody answered in time."]);
    expect(at.questions.answer(id, { kind: "press", at: 0 }, byAnn)).toMatchObject({ because: "over" });
    expect(at.clock.pending()).toBe(0);
  });

  test("is over with its turn, also when it is only being shown", async () => {
    const at = world();
    const turn = new AbortController();
    const first = await at.ask(TEA, {}, turn.signal);
    const held = deferred<void>();
    const other = { sessionKey: "agent:default:telegram:dm:2" as SessionKey };
    at.state.holding = held.promise;
    const second = await at.ask(TEA, other, turn.signal);
    turn.abort();
    expect([await first.answer, await second.answer]).toEqual([{ kind: "none" }, { kind: "none" }]);
    expect(at.closed).toHaveLength(1);
    held.resolve();
    await at.clock.advance(0);
    expect(at.closed).toEqual(Array(2).fill("This question is over. The turn that asked has ended."));
    expect(await at.questions.ask(TEA, of, turn.signal)).toEqual({ kind: "none" });
    expect(at.shown).toHaveLength(2);
  });

  test("that cannot be shown has no answer, and says why", async () => {
    const at = world();
    at.state.failing = true;
    expect(await (await at.ask(TEA)).answer).toEqual({ kind: "none" });
    const away = world({ closed: true });
    expect(await (await away.ask(TEA)).answer).toEqual({ kind: "none" });
    const full = world({ plain: true });
    full.state.posted = { kind: "full", max: 1 };
    expect(await (await full.ask(TEA)).answer).toEqual({ kind: "none" });
    for (const one of [at, away, full]) expect(one.ends()).toEqual(["cancelled: It could not be shown in this chat."]);
  });

  test("of a turn that nobody watches is not asked, and clients hear why", async () => {
    const at = world();
    expect(await at.questions.ask(TEA, { ...of, cause: "cron" }, NEVER)).toEqual({ kind: "none" });
    expect(at.ends()).toEqual(["cancelled: Nobody is there to be asked: this turn was begun by a scheduled job."]);
    expect([at.shown, at.questions.pending()]).toEqual([[], []]);
  });

  test("waits for the one before it in its session, and for no other", async () => {
    const at = world();
    const first = await at.ask(TEA);
    const second = await at.ask(NAME);
    const other = await at.ask(NAME, { sessionKey: "agent:default:telegram:dm:2" as SessionKey });
    expect(at.shown.map(({ text }) => text)).toEqual(["Which one?", "Your name?"]);
    expect(at.shown[1]?.id).toBe(other.id);
    at.questions.answer(first.id, { kind: "press", at: 0 }, byAnn);
    await first.answer;
    await at.clock.advance(0);
    const [, next] = at.questions.pending();
    at.questions.answer(next?.id ?? "", { kind: "words", text: "Ann" }, byAnn);
    expect(await second.answer).toEqual({ kind: "said", text: "Ann" });
  });

  test("whose asker gives up while it waits in line is never shown", async () => {
    const at = world();
    await at.ask(TEA);
    const waiting = await at.ask({ ...NAME, timeoutMs: 1_000 });
    await at.clock.advance(1_000);
    expect(await waiting.answer).toEqual({ kind: "none" });
    const turn = new AbortController();
    const stopped = await at.ask({ ...NAME, timeoutMs: 1_000 }, {}, turn.signal);
    turn.abort(); // with its turn, long before its own time
    expect(await stopped.answer).toEqual({ kind: "none" });
    expect(at.shown).toHaveLength(1);
  });

  test("is dismissed by a program that says so", async () => {
    const at = world();
    const { answer, id } = await at.ask(TEA);
    at.questions.answer(id, { kind: "value", value: null }, { principal: BEN, role: "owner" });
    expect(await answer).toEqual({ kind: "none" });
    expect(at.ends()).toEqual(["cancelled: It was dismissed."]);
  });

  test("says nothing of what is asked and answered in the log", async () => {
    const at = world();
    const { answer } = await at.ask({ kind: "input", title: "a-private-question" });
    at.questions.hear(say("a-private-answer"), { role: "member", sessionKey: of.sessionKey });
    expect(await answer).toEqual({ kind: "said", text: "a-private-answer" });
    expect(JSON.stringify(at.log.lines)).not.toContain("private");
    expect(JSON.stringify(at.news)).not.toContain("private-answer");
  });
});

describe("without buttons", () => {
  test("a question is a message with numbers, and the next words answer it", async () => {
    const at = world({ plain: true });
    const { answer } = await at.ask(TEA);
    const text = "Which one?\n1. tea\n2. coffee\nAnswer with a number from 1 to 2.";
    expect(at.posts).toMatchObject([{ to: HERE, turnId: of.turnId, message: { text, format: "plain" } }]);
    const { answering: _none, ...plain } = say("2");
    expect(at.questions.hear(plain, { role: "member", sessionKey: of.sessionKey })).toMatchObject({ kind: "taken" });
    expect(await answer).toEqual({ kind: "chosen", option: "coffee" });
  });
});

test("words answer the question of their own chat, while an older one waits in another chat", async () => {
  const at = world();
  const elsewhere = { ...HERE, chat: "2" };
  const sessionKey = "agent:default:telegram:dm:2" as SessionKey;
  const first = await at.ask(NAME);
  const second = await at.ask(NAME, { sessionKey, turnId: "t2" as TurnId, principal: BEN, origin: elsewhere });
  const byBen = say("Ben", { address: elsewhere, sender: { principal: BEN, name: "Ben" } });
  expect(at.questions.hear(byBen, { role: "member", sessionKey })).toMatchObject({ kind: "taken" });
  expect(await second.answer).toEqual({ kind: "said", text: "Ben" });
  expect(at.questions.pending().map(({ id }) => id)).toEqual([first.id]);
});

describe("a message that comes while a question is open", () => {
  const accept = (role: Role): Verdict => ({
    kind: "accept",
    sessionKey: of.sessionKey,
    agentId: of.agentId,
    role,
    priority: 10,
    because: [],
  });
  const receiving = (at: ReturnType<typeof world>, verdict: Verdict = accept("member")) => {
    const passed: string[] = [];
    const commands = { find: ({ text }: InboundMessage) => (text === "/stop" ? ({} as never) : null) };
    const deps = { router: { decide: () => verdict }, commands, questions: at.questions };
    const receive = async (message: InboundMessage) => {
      const answered = await answerQuestion(deps, message);
      if (answered === null) passed.push(message.text);
      return answered;
    };
    return { passed, receive };
  };

  test("and answers it is no message; a command, words of others and a reply to something else are", async () => {
    const at = world();
    const { answer } = await at.ask(NAME);
    const { passed, receive } = receiving(at);
    const { answering: _answering, ...bare } = say("/stop");
    await receive(bare);
    await receive(say("[In answer to: x]\n/stop", { answering: { to: "m1", text: "/stop" } }));
    await receive(say("hi", { sender: { principal: BEN, name: "Ben" } }));
    await receive(say("hm", { answering: { to: "m0", text: "hm" } }));
    expect(passed).toEqual(["/stop", "[In answer to: x]\n/stop", "hi", "hm"]);
    expect(await receive(say("Ann"))).toEqual({ kind: "answered", sessionKey: of.sessionKey });
    expect(await answer).toEqual({ kind: "said", text: "Ann" });
    await receive(say("and now a message"));
    expect(passed.at(-1)).toBe("and now a message");
  });

  test("in a chat without buttons is a command where it looks like one", async () => {
    const at = world({ plain: true });
    const { id } = await at.ask(NAME);
    expect(at.posts).toMatchObject([{ onceKey: `question:${id}`, to: HERE, turnId: of.turnId }]);
    const { passed, receive } = receiving(at);
    const { answering: _answering, ...bare } = say("/stop");
    await receive(bare);
    expect([passed, at.questions.pending().length]).toEqual([["/stop"], 1]);
  });

  test("and is none of the possible answers is sent back with what they are", async () => {
    const at = world({ plain: true });
    await at.ask(TEA);
    const { passed, receive } = receiving(at);
    expect(await receive(say("milk"))).toMatchObject({ kind: "refused", because: "no_such_answer" });
    expect([passed, at.questions.pending().length]).toEqual([[], 1]);
  });

  test("from somebody who is not let in goes the way of every message", async () => {
    const at = world();
    await at.ask(NAME);
    const { passed, receive } = receiving(at, { kind: "refuse", because: "no", tell: "nothing", say: "" });
    await receive(say("Ann"));
    expect([passed, at.questions.pending().length]).toEqual([["Ann"], 1]);
  });

  test("is no answer before people can see the question", async () => {
    const at = world();
    const held = deferred<void>();
    at.state.holding = held.promise;
    await at.ask(NAME);
    const { passed, receive } = receiving(at);
    await receive(say("one more thing"));
    expect(passed).toEqual(["one more thing"]);
    held.resolve();
  });
});

describe("a note", () => {
  test("is a short message in the chat, a few in each turn", async () => {
    const at = world();
    await at.questions.tell({ text: " saved ", level: "info" }, of);
    await at.questions.tell({ text: "x".repeat(MAX_NOTE_CHARS + 1), level: "warning" }, of);
    for (let n = 0; n < MAX_NOTES_PER_TURN; n++) await at.questions.tell({ text: `n${n}`, level: "error" }, of);
    expect(at.posts.map(({ message }) => message.text)).toEqual([
      "saved",
      `Warning: ${"x".repeat(MAX_NOTE_CHARS)}…`,
      ...["n0", "n1", "n2"].map((text) => `Error: ${text}`),
    ]);
    await at.questions.tell({ text: "another turn", level: "info" }, { ...of, turnId: "t2" as TurnId });
    expect(at.posts).toHaveLength(MAX_NOTES_PER_TURN + 1);
  });

  test("of a turn that nobody watches, and an empty one, are not shown", async () => {
    const at = world();
    await at.questions.tell({ text: "tick", level: "info" }, { ...of, cause: "heartbeat" });
    await at.questions.tell({ text: " ", level: "info" }, of);
    expect(at.posts).toEqual([]);
  });
});

describe("a secret in a question", () => {
  test.each([
    { kind: "select", title: `use ${SECRET}?`, options: [`yes, ${SECRET}`, "no"] },
    { kind: "confirm", title: `use ${SECRET}?`, text: `it is ${SECRET}` },
    { kind: "input", title: `why ${SECRET}?`, placeholder: SECRET, prefill: SECRET },
  ] satisfies ChatQuestion[])("is shown to nobody, in the chat, the list and the events: $kind", async (question) => {
    for (const plain of [true, undefined]) {
      const w = world(plain ? { plain } : {});
      await w.ask(question);
      const seen = JSON.stringify([w.shown, w.posts, w.news, w.questions.pending()]);
      expect(seen).not.toContain(SECRET);
      expect(seen).toContain("[redacted]");
    }
  });

  test("comes back to whoever asked when its option is chosen", async () => {
    const w = world();
    const { answer, id } = await w.ask({ kind: "select", title: "Which?", options: ["tea", `key ${SECRET}`] });
    expect(w.questions.answer(id, { kind: "press", at: 1 }, byAnn).say).not.toContain(SECRET);
    expect(await answer).toEqual({ kind: "chosen", option: `key ${SECRET}` });
    expect(JSON.stringify([w.news, w.closed])).not.toContain(SECRET);
  });
});

test("a question that is answered in the moment in which its turn is stopped has one end", async () => {
  const at = world();
  const stop = new AbortController();
  const { answer, id } = await at.ask(TEA, {}, stop.signal);
  at.questions.answer(id, { kind: "press", at: 1 }, byAnn);
  stop.abort(new Error("stopped"));
  expect(await answer).toEqual({ kind: "chosen", option: "coffee" });
  expect(at.ends()).toEqual(["answered: Answered: coffee"]);
  expect(at.closed).toEqual(["Answered: coffee"]);
});

test("questions that are over leave nothing behind, in however many sessions they were asked", async () => {
  const at = world();
  const kept = await keptPerRound(async (round) => {
    const answer = at.questions.ask(TEA, { ...of, sessionKey: `session ${round}` as SessionKey }, NEVER);
    await at.clock.advance(0);
    at.questions.answer(at.questions.pending()[0]?.id ?? "", { kind: "press", at: 1 }, byAnn);
    await answer;
    for (const told of [at.news, at.shown, at.closed, at.log.lines]) (told as unknown[]).length = 0;
  });
  expect(kept).toEqual({});
  expect(at.clock.pending()).toBe(0);
});

test("a question that could not be shown in the end, long after its time, has one end", async () => {
  const at = world();
  const shownLate = deferred<void>();
  Object.assign(at.state, { holding: shownLate.promise, failing: true });
  const { answer } = await at.ask(TEA);
  await at.clock.advance(WAIT_MS);
  expect(await answer).toEqual({ kind: "none" });
  shownLate.resolve();
  await at.clock.advance(0);
  expect(at.ends()).toEqual(["expired: Nobody answered in time."]);
});

test("a question whose time ran out while the machine slept is over, whoever answers before its timer has noticed", async () => {
  const at = world();
  const { answer, id } = await at.ask(TEA);
  const now = at.clock.now();
  Object.assign(at.clock, { now: () => now + WAIT_MS }); // timers stand still meanwhile
  expect(at.questions.answer(id, { kind: "press", at: 1 }, byAnn)).toMatchObject({ kind: "refused", because: "over" });
  await at.clock.advance(WAIT_MS);
  expect(await answer).toEqual({ kind: "none" });
});

test.each<[ChatQuestion, object]>([
  [
    { kind: "select", title: `Which ${HIDDEN}?`, options: [`tea${HIDDEN}`, "coffee"] },
    { title: `Which ${WRITTEN}?`, options: [`tea${WRITTEN}`, "coffee"] },
  ],
  [
    { kind: "confirm", title: `Sure${HIDDEN}?`, text: `rm ${HIDDEN}txt.exe` },
    { title: `Sure${WRITTEN}?`, text: `rm ${WRITTEN}txt.exe` },
  ],
  [{ kind: "confirm", title: "Sure?" }, { title: "Sure?" }],
  [
    { kind: "input", title: `Name${HIDDEN}?`, placeholder: `Ann${HIDDEN}`, prefill: `Ben${HIDDEN}` },
    { title: `Name${WRITTEN}?`, placeholder: `Ann${WRITTEN}`, prefill: `Ben${WRITTEN}` },
  ],
  [
    { kind: "input", title: "Name?", many: true },
    { title: "Name?", many: true },
  ],
])("characters that hide what a question says are written out in every part of it: %j", async (question, shown) => {
  const at = world();
  await at.ask(question);
  expect(at.news[0]?.question).toEqual({ kind: question.kind, ...shown } as ChatQuestion);
  expect(at.questions.pending()[0]?.question).toEqual({ kind: question.kind, ...shown } as ChatQuestion);
});
