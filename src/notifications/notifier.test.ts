/** What browsers are told, in which order and how often, and when nobody is told any more. */
import { describe, expect, test } from "bun:test";
import type { PairedPerson } from "../contracts/channels/pairing.ts";
import type { JobRun } from "../contracts/automation/job.ts";
import type { QuestionNews } from "../contracts/channels/question.ts";
import type { TroubledPart } from "../contracts/delivery.ts";
import type { Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { PushNotice, PushOutcome } from "../contracts/notifications.ts";
import type { PendingApproval } from "../contracts/tools/approval.ts";
import { createEvents } from "../observe/index.ts";
import { newSubscription } from "../testing/contracts/store/push-subscription-contract.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { waitFor } from "../testing/wait-for.ts";
import { isDecisionToken } from "./decision-token.ts";
import { MAX_WHOLE_CHARS } from "./notices.ts";
import { MAX_PER_MINUTE, MAX_WAITING, startNotifier } from "./notifier.ts";
import type { SentNotice } from "./sender.ts";

const TOKEN_KEY = new Uint8Array(32).fill(3);
const SENT: PushOutcome = { kind: "sent" };
const BUSY: PushOutcome = { kind: "failed", because: "its push service answered with status 503", again: true };

interface Asked extends SentNotice {
  readonly to: string;
}

/** A notifier with browsers whose push services answer as told. */
function world({ browsers = ["one"] }: { readonly browsers?: readonly string[] } = {}) {
  const clock = createFakeClock();
  const log = recordingLog();
  const events = createEvents({ log });
  const rows = new Map(
    browsers.map((id) => [id, { ...newSubscription(id), sentAt: null, problem: null as string | null }]),
  );
  const asked: Asked[] = [];
  const answers: (PushOutcome | Promise<PushOutcome>)[] = [];
  const signedOut = new Set<string>();
  const people: PairedPerson[] = [];
  const lost: TroubledPart[] = [];
  const state = { enabled: true };
  const notifier = startNotifier({
    clock,
    log,
    events,
    async send(to, sent) {
      const { endpoint } = to;
      asked.push({ ...sent, to: endpoint.split("/").at(-1) ?? "" });
      return answers.shift() ?? SENT;
    },
    store: {
      list: async () => [...rows.values()],
      remove: async (id) => rows.delete(id),
      note: async (id, { problem }) => {
        const row = rows.get(id);
        if (row) rows.set(id, { ...row, problem });
      },
    },
    sources: {
      approvals: { openHash: async (id) => `hash of ${id}` },
      pairing: { list: () => people },
      outbox: { list: async (which) => ({ items: lost.filter(({ state: is }) => is === which) }) },
      tokenKey: TOKEN_KEY,
    },
    isEnabled: () => state.enabled,
    isSignedIn: async (signIn) => !signedOut.has(signIn),
  });
  const told = (count: number) =>
    waitFor(
      `${count} notifications`,
      () => asked.length,
      (length) => length >= count,
    );
  const paused = () => waitFor("a pause before the next attempt", () => clock.pending() === 1);
  const notices = (): readonly PushNotice[] => asked.map(({ notice }) => notice);
  const end = () => notifier[Symbol.asyncDispose]();
  return {
    clock,
    log,
    events,
    rows,
    asked,
    answers,
    signedOut,
    people,
    lost,
    state,
    told,
    paused,
    notices,
    [Symbol.asyncDispose]: end,
  };
}

function approval(id: string, more: Partial<PendingApproval> = {}): PendingApproval {
  return {
    id,
    tool: "bash",
    callId: `call-${id}`,
    because: "the tool always asks",
    input: { command: "ls /tmp" },
    shown: '{\n  "command": "ls /tmp"\n}',
    sessionKey: "agent:default:webchat:dm:a" as SessionKey,
    turnId: "t1" as TurnId,
    principal: "operator" as Principal,
    origin: { channel: "webchat", account: "default", chat: "a" },
    askedAt: 0,
    expiresAt: 4_102_444_800_000,
    ...more,
  };
}
const asks = (w: ReturnType<typeof world>, one: PendingApproval) =>
  w.events.emit("approval", { ...one, decision: null });
const ends = (w: ReturnType<typeof world>, { input: _i, shown: _s, ...one }: PendingApproval) =>
  w.events.emit("approval", { ...one, decision: "deny", by: one.principal });

const question = (id: string, session: string): QuestionNews => ({
  id,
  question: { kind: "confirm", title: "Overwrite it?", text: "notes.md is there already" },
  sessionKey: session as SessionKey,
  turnId: "t1" as TurnId,
  principal: "operator" as Principal,
  askedAt: 0,
  expiresAt: 4_102_444_800_000,
  end: null,
});

const run = (jobId: string, status: JobRun["status"]): JobRun => ({
  id: `run-${jobId}`,
  jobId,
  slot: 1,
  manual: false,
  status,
  reason: "the model did not answer",
  attempt: 1,
  startedAt: 1,
  ms: 1,
  turnId: null,
  retryAt: null,
});

describe("an approval", () => {
  test("reaches every browser at once, each with tokens of its own for this very call", async () => {
    await using w = world({ browsers: ["one", "two"] });
    asks(w, approval("ask_1"));
    await w.told(2);
    expect(w.notices().map(({ title, body, tag }) => [title, body, tag])).toEqual(
      Array.from({ length: 2 }, () => ["Allow bash?", "ls /tmp\n(the tool always asks)", "approval-ask_1"]),
    );
    expect(w.asked.map(({ urgency }) => urgency)).toEqual(["high", "high"]);
    const [one, two] = w.notices().map(({ approval: asked }) => asked?.tokens ?? {});
    const { principal, signIn } = newSubscription("one");
    const call = { approval: "ask_1", hash: "hash of ask_1" };
    for (const decision of ["once", "deny"] as const) {
      const is = (token: string, more: object, by: object = {}) =>
        isDecisionToken(TOKEN_KEY, token, { ...call, decision, ...more }, { principal, signIn, ...by });
      const token = one?.[decision] ?? "";
      expect([is(token, {}), is(two?.[decision] ?? "", {}), is("", {}), is(`${token}x`, {})]).toEqual([
        ...[true, false, false, false],
      ]);
      expect([is(token, { hash: "another call" }), is(token, { approval: "ask_2" })]).toEqual([false, false]);
      expect(is(token, { decision: decision === "once" ? "deny" : "once" })).toBe(false);
      expect([is(token, {}, { signIn: "another" }), is(token, {}, { principal: "other" })]).toEqual([false, false]);
    }
  });

  test("that does not fit in a notification can be denied there, and is allowed elsewhere", async () => {
    await using w = world();
    const fits = "x".repeat(MAX_WHOLE_CHARS);
    asks(w, approval("ask_1", { input: { command: fits } }));
    asks(w, approval("ask_2", { input: { command: `${fits}y` } }));
    await w.told(2);
    expect(w.notices().map(({ approval: asked }) => Object.keys(asked?.tokens ?? {}))).toEqual([
      ["once", "deny"],
      ["deny"],
    ]);
    expect(w.notices()[1]?.body).toStartWith("Too long for a notification.");
  });

  test("is shown with hidden characters written out", async () => {
    await using w = world();
    asks(w, approval("ask_1", { input: { command: "rm a\u202etxt.exe" } }));
    await w.told(1);
    expect(w.notices()[0]?.body).toContain("rm a\\u202etxt.exe");
  });

  test("that was decided meanwhile is told to nobody any more", async () => {
    await using w = world();
    w.answers.push(BUSY);
    asks(w, approval("ask_1"));
    await w.paused();
    ends(w, approval("ask_1"));
    await w.clock.advance(600_000);
    expect(w.asked.length).toBe(1);
  });

  test("that has run out of time is told to nobody any more", async () => {
    await using w = world();
    w.answers.push(BUSY, BUSY);
    asks(w, approval("ask_1", { expiresAt: w.clock.now() + 5_000 }));
    await w.paused();
    await w.clock.advance(1_000);
    await w.told(2);
    await w.paused();
    await w.clock.advance(600_000);
    expect(w.asked.length).toBe(2);
  });
});

describe("a push service", () => {
  test("that is busy is asked four times, and then the browser's row says what went wrong", async () => {
    await using w = world();
    w.answers.push(BUSY, BUSY, BUSY, BUSY);
    asks(w, approval("ask_1"));
    for (const [times, ms] of [
      [1, 1_000],
      [2, 10_000],
      [3, 60_000],
    ] as const) {
      await w.told(times);
      await w.paused();
      await w.clock.advance(ms);
    }
    await w.told(4);
    await waitFor("the problem", () => w.rows.get("one")?.problem === "its push service answered with status 503");
    await w.clock.advance(600_000);
    expect(w.asked.length).toBe(4);
  });

  test("that asks for a pause gets it, and one that asks for hours gets nothing", async () => {
    await using w = world();
    w.answers.push({ ...BUSY, retryAfterMs: 30_000 });
    asks(w, approval("ask_1"));
    await w.paused();
    await w.clock.advance(29_999);
    expect(w.asked.length).toBe(1);
    await w.clock.advance(1);
    await w.told(2);
    w.answers.push({ ...BUSY, retryAfterMs: 3_600_000 });
    asks(w, approval("ask_2"));
    await w.told(3);
    await waitFor("the problem", () => w.rows.get("one")?.problem !== null);
    await w.clock.advance(7_200_000);
    expect(w.asked.length).toBe(3);
  });

  test("that does not know a browser any more ends its row", async () => {
    await using w = world({ browsers: ["one", "two"] });
    w.answers.push({ kind: "gone" });
    asks(w, approval("ask_1"));
    await waitFor("one row", () => w.rows.size === 1);
    expect([...w.rows.keys()]).toEqual(["two"]);
  });

  test("that hangs holds up no other browser, and what waits behind it has a limit", async () => {
    await using w = world({ browsers: ["slow", "quick"] });
    const { promise, resolve } = Promise.withResolvers<PushOutcome>();
    w.answers.push(promise);
    for (let n = 0; n <= MAX_WAITING; n++) {
      asks(w, approval(`ask_${n}`));
      await w.told(n + 2);
    }
    expect(w.asked.filter(({ to }) => to === "slow").length).toBe(1);
    expect(w.log.lines.filter(({ words }) => words.startsWith("notification left out")).length).toBe(1);
    resolve(SENT);
    await w.told(2 * MAX_WAITING + 1);
  });
});

test("a browser that is signed out is told nothing, and forgotten", async () => {
  await using w = world({ browsers: ["one", "two"] });
  w.signedOut.add(newSubscription("one").signIn);
  asks(w, approval("ask_1"));
  await w.told(1);
  expect([w.asked.map(({ to }) => to), [...w.rows.keys()]]).toEqual([["two"], ["two"]]);
});

test("notifications that are switched off reach nobody", async () => {
  await using w = world();
  w.state.enabled = false;
  asks(w, approval("ask_1"));
  w.events.emit("question", question("q1", "agent:default:webchat:dm:a"));
  await w.clock.advance(1_000);
  w.state.enabled = true;
  asks(w, approval("ask_2"));
  await w.told(1);
  expect(w.notices().map(({ tag }) => tag)).toEqual(["approval-ask_2"]);
});

test("a flood is cut off at a number in a minute", async () => {
  await using w = world();
  for (let n = 0; n < MAX_PER_MINUTE; n++) {
    asks(w, approval(`ask_${n}`));
    await w.told(n + 1);
  }
  asks(w, approval("one too many"));
  await waitFor("the word about it", () => w.log.lines.some(({ words }) => words.includes("too many in a minute")));
  expect(w.asked.length).toBe(MAX_PER_MINUTE);
  await w.clock.advance(60_000);
  asks(w, approval("later"));
  await w.told(MAX_PER_MINUTE + 1);
});

describe("browsers are told of", () => {
  test("questions of the web console, and not of those that are asked elsewhere", async () => {
    await using w = world();
    w.events.emit("question", question("q1", "agent:default:telegram:dm:7"));
    w.events.emit("question", question("q2", "agent:default:webchat:dm:a"));
    await w.told(1);
    expect(w.notices()).toEqual([
      { title: "Overwrite it?", body: "notes.md is there already", tag: "question-q2", view: "/inbox" },
    ]);
  });

  test("a failing job once an hour, and not of runs that went well", async () => {
    await using w = world();
    for (const status of ["running", "ran", "skipped", "failed", "failed"] as const)
      w.events.emit("cron.run", { run: run("report", status) });
    w.events.emit("cron.run", { run: run("other", "failed") });
    await w.told(2);
    await w.clock.advance(3_600_000);
    w.events.emit("cron.run", { run: run("report", "failed") });
    await w.told(3);
    expect(w.notices().map(({ title }) => title)).toEqual([
      "The job report failed",
      "The job other failed",
      "The job report failed",
    ]);
  });

  test("each person who asks for access once, and not of those who asked before the start", async () => {
    await using w = world();
    const person = (id: string, createdAt: number, state: "pending" | "approved" = "pending"): PairedPerson => ({
      id,
      createdAt,
      state,
      role: null,
      expiresAt: createdAt + 1,
      name: `N ${id}`,
      channel: "telegram",
      account: "default",
      principal: `telegram:user:${id}` as Principal,
    });
    w.people.push(
      person("old", w.clock.now() - 1),
      person("new", w.clock.now()),
      person("in", w.clock.now(), "approved"),
    );
    w.events.emit("status", { what: "pairing" });
    w.events.emit("status", { what: "pairing" });
    w.events.emit("status", { what: "keys" });
    await w.told(1);
    asks(w, approval("ask_1"));
    await w.told(2);
    expect(w.notices().map(({ tag }) => tag)).toEqual(["person-new", "approval-ask_1"]);
  });

  test("replies that did not arrive, once an hour for each channel", async () => {
    await using w = world();
    const part = (id: string, channel: string, more: Partial<TroubledPart> = {}) =>
      ({
        id,
        state: "dead",
        because: "the chat is gone",
        endedAt: w.clock.now(),
        to: { channel, account: "default", chat: "7" },
        ...more,
      }) as TroubledPart;
    w.lost.push(part("p0", "telegram", { endedAt: w.clock.now() - 1 }), part("p1", "telegram"), part("p2", "telegram"));
    w.lost.push(part("p3", "discord", { state: "ambiguous" }));
    w.events.emit("status", { what: "outbox" });
    w.events.emit("status", { what: "outbox" });
    await w.told(2);
    asks(w, approval("ask_1"));
    await w.told(3);
    expect(w.notices().map(({ title, tag }) => [title, tag])).toEqual([
      ["A reply was not delivered", "reply-telegram"],
      ["A reply may have arrived twice, or not at all", "reply-discord"],
      ["Allow bash?", "approval-ask_1"],
    ]);
  });
});

test("a stop ends what waits for another attempt", async () => {
  const w = world();
  w.answers.push(BUSY);
  asks(w, approval("ask_1"));
  await w.paused();
  await w[Symbol.asyncDispose]();
  expect(w.clock.pending()).toBe(0);
  asks(w, approval("ask_2"));
  expect([w.asked.length, w.log.lines.filter(({ level }) => level === "error")]).toEqual([1, []]);
});
