/** Calls of a running turn as they are shown: what an agent tells, and what only the gate knows. */
import { describe, expect, test } from "bun:test";
import type { GatewayEvents } from "../contracts/events.ts";
import type { InboxId, Principal, TurnId } from "../contracts/ids.ts";
import type { Batch, Queue } from "../contracts/queue.ts";
import { secret } from "../kit/secret.ts";
import { createEvents, createRedactor } from "../observe/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { SESSION } from "../testing/worlds/flow-world.ts";
import { createLiveTurns } from "./index.ts";
import { MAX_PROGRESS_CHARS, MAX_REASONING_CHARS, PROGRESS_EVERY_MS } from "./live-turns.ts";

const TURN = "turn_1" as TurnId;
const CALL = { sessionKey: SESSION, turnId: TURN, callId: "c1", tool: "bash" };
const ASKED = {
  ...CALL,
  id: "ask_1",
  because: "x",
  input: {},
  shown: "{}",
  principal: "operator" as Principal,
  origin: { channel: "webchat", account: "default", chat: "1" },
  askedAt: 1,
  expiresAt: 2,
};
const SECRET = "operator-token-42";
const ANSWER = { isError: true, output: "no" };

function world() {
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  const redactor = createRedactor();
  redactor.add(secret(SECRET));
  const live = createLiveTurns({ clock, events, queue: {} as Queue, mask: redactor.mask });
  const shown: GatewayEvents["turn.tool"]["status"][] = [];
  events.on("turn.tool", ({ status }) => void shown.push(status));
  const batch = {
    sessionKey: SESSION,
    turnId: TURN,
    attempt: 1,
    entries: [],
    acceptedAt: clock.now(),
  } as unknown as Batch;
  const writer = live.open(batch);
  writer.toolStarted({ callId: "c1", tool: "bash", input: {} });
  const now = () => live.snapshot(SESSION)?.tools.map(({ status }) => status);
  const decided = (decision: "once" | "session" | "deny" | "expired") =>
    events.emit("approval", { ...ASKED, decision, by: null });
  return { clock, events, live, batch, writer, shown, now, decided };
}

describe("the duration of a call does not include the wait for an approval,", () => {
  const ended = ({ live }: ReturnType<typeof world>) => live.snapshot(SESSION)?.tools.map(({ ms }) => ms);

  test("when it is allowed and runs", async () => {
    const fx = world();
    await fx.clock.advance(3);
    fx.events.emit("approval", { ...ASKED, decision: null });
    await fx.clock.advance(60_000);
    fx.decided("once");
    await fx.clock.advance(4);
    fx.writer.toolEnded({ callId: "c1", isError: false, output: "fine" });
    expect(ended(fx)).toEqual([7]);
  });

  test("when it is denied", async () => {
    const fx = world();
    fx.events.emit("approval", { ...ASKED, decision: null });
    await fx.clock.advance(60_000);
    fx.decided("deny");
    fx.events.emit("tool_refused", { ...CALL, status: "blocked" });
    fx.writer.toolEnded({ callId: "c1", ...ANSWER });
    expect(ended(fx)).toEqual([0]);
  });

  test("when the turn ends while it waits", async () => {
    const fx = world();
    await fx.clock.advance(3);
    fx.events.emit("approval", { ...ASKED, decision: null });
    await fx.clock.advance(60_000);
    fx.writer.toolEnded({ callId: "c1", ...ANSWER });
    expect(ended(fx)).toEqual([3]);
  });

  test("when the question overtakes the agent's word that it begins the call", async () => {
    const fx = world();
    fx.events.emit("approval", { ...ASKED, callId: "c2", decision: null });
    await fx.clock.advance(2);
    fx.writer.toolStarted({ callId: "c2", tool: "bash", input: {} });
    expect(fx.now()).toEqual(["running", "pending"]);
    await fx.clock.advance(60_000);
    fx.events.emit("approval", { ...ASKED, callId: "c2", decision: "once", by: null });
    await fx.clock.advance(5);
    fx.writer.toolEnded({ callId: "c2", isError: false, output: "fine" });
    expect(ended(fx)).toEqual([undefined, 5]);
  });
});

test("a call that waits for the owner is pending, runs when allowed, and ends as usual", () => {
  for (const decision of ["once", "session"] as const) {
    const { events, writer, shown, now, decided } = world();
    events.emit("approval", { ...ASKED, decision: null });
    expect(now()).toEqual(["pending"]);
    decided(decision);
    expect(now()).toEqual(["running"]);
    writer.toolEnded({ callId: "c1", isError: false, output: "fine" });
    expect(shown).toEqual(["running", "pending", "running", "success"]);
  }
});

test("a call that was rejected is blocked and not failed, whatever the agent read about it", () => {
  for (const decision of ["deny", "expired"] as const) {
    const { events, writer, shown, now, decided } = world();
    events.emit("approval", { ...ASKED, decision: null });
    decided(decision);
    events.emit("tool_refused", { ...CALL, status: "blocked" });
    writer.toolEnded({ callId: "c1", ...ANSWER });
    expect(now()).toEqual(["blocked"]);
    expect(shown).toEqual(["running", "pending", "blocked", "blocked"]);
  }
});

test.each(["blocked", "error"] as const)(
  "a call that was rejected as %s ends so, before and after the agent's word that it begins",
  (status) => {
    const { events, writer, shown } = world();
    events.emit("tool_refused", { ...CALL, callId: "c2", status });
    writer.toolStarted({ callId: "c2", tool: "bash", input: {} });
    writer.toolEnded({ callId: "c2", isError: false, output: "fine" });
    expect(shown).toEqual(["running", "running", status]);
    events.emit("tool_refused", { ...CALL, status });
    events.emit("tool_refused", { ...CALL, status }); // told once
    writer.toolEnded({ callId: "c1", isError: false, output: "fine" });
    expect(shown.slice(3)).toEqual([status, status]);
  },
);

test("the end of a call that never began is shown to nobody", () => {
  const { writer, shown, now } = world();
  writer.toolEnded({ callId: "c9", ...ANSWER });
  expect([shown, now()]).toEqual([["running"], ["running"]]);
});

test("messages that join a running turn are part of what a page sees that comes later", () => {
  const { live, writer } = world();
  writer.joined(["in_1", "in_2"] as InboxId[]);
  writer.joined(["in_3"] as InboxId[]);
  expect(live.snapshot(SESSION)?.inboxIds as string[] | undefined).toEqual(["in_1", "in_2", "in_3"]);
});

test("the wait of a turn is shown without secrets until the turn says or does something again", () => {
  const { events, live, writer } = world();
  const told: unknown[] = [];
  events.on("turn.waiting", ({ until, text }) => void told.push({ until, text }));
  const waiting = { until: 5, text: "for [redacted]" };
  const goesOn = [
    () => writer.text("Here it is."),
    () => writer.toolStarted({ callId: "c2", tool: "bash", input: {} }),
  ];
  for (const goOn of goesOn) {
    writer.waiting({ until: 5, text: `for ${SECRET}` });
    expect(live.snapshot(SESSION)?.waiting).toEqual(waiting);
    writer.text(""); // says nothing
    expect(live.snapshot(SESSION)?.waiting).toEqual(waiting);
    goOn();
    expect(live.snapshot(SESSION)).not.toHaveProperty("waiting");
  }
  expect(told).toEqual([waiting, waiting]);
});

test("news of other turns and other calls change nothing, and a failure stays a failure", () => {
  const { events, writer, shown } = world();
  events.emit("tool_refused", { ...CALL, turnId: "turn_2" as TurnId, status: "blocked" });
  events.emit("tool_refused", { ...CALL, callId: "c2", status: "blocked" });
  writer.toolEnded({ callId: "c1", ...ANSWER });
  events.emit("tool_refused", { ...CALL, status: "blocked" }); // too late: it has ended
  expect(shown).toEqual(["running", "error"]);
});

test("the words of a turn are shown without secrets, in the events and to a page that comes later", () => {
  const { events, live, writer } = world();
  const deltas: string[] = [];
  events.on("turn.delta", ({ text }) => void deltas.push(text));
  for (const piece of ["It is oper", "ator-tok", "en-42, and oper"]) writer.text(piece);
  expect(deltas).toEqual(["It is ", "[redacted], and "]);
  writer.toolStarted({ callId: "c2", tool: "bash", input: {} }); // a tool in between does not let go of the beginning
  writer.text("ator-token-42");
  expect(deltas.join("")).toBe("It is [redacted], and [redacted]");
  writer.text("; then oper");
  writer.textEnded();
  expect(live.snapshot(SESSION)?.text).toBe("It is [redacted], and [redacted]; then oper");
  expect(deltas.join("")).toBe("It is [redacted], and [redacted]; then oper");
});

test("a call is shown without secrets in its name, its id, its input and its output, and is still the same call", () => {
  const { events, live, writer } = world();
  const seen: unknown[] = [];
  events.on("turn.tool", (call) => void seen.push(call));
  const callId = `call-${SECRET}`;
  writer.toolStarted({ callId, tool: `try_${SECRET}`, input: { [SECRET]: [{ deep: `x${SECRET}` }] } });
  events.emit("approval", { ...ASKED, callId, decision: null });
  writer.toolEnded({ callId, isError: false, output: `said ${SECRET}` });
  expect(seen).toHaveLength(3);
  const all = JSON.stringify([seen, live.snapshot(SESSION)]);
  expect(all).not.toContain(SECRET);
  expect(seen.at(-1)).toMatchObject({ callId: "call-[redacted]", status: "success", output: "said [redacted]" });
});

describe("the progress of a running tool", () => {
  function following() {
    const fx = world();
    const reports: (string | undefined)[] = [];
    fx.events.on("turn.tool", ({ status, progress }) => void (status === "running" && reports.push(progress)));
    const says = (text: string, callId = "c1") => fx.writer.toolUpdated({ callId, text });
    const snapshot = () => fx.live.snapshot(SESSION)?.tools.map(({ progress }) => progress);
    return { ...fx, reports, says, snapshot };
  }

  test("is shown as its newest line, in events and to a page that opens in the middle of the turn", () => {
    const { says, reports, snapshot } = following();
    says("step 1\nstep 2\n\n");
    expect(reports).toEqual(["step 2"]);
    expect(snapshot()).toEqual(["step 2"]);
  });

  test("is rate limited per call: the first report at once, then the newest of each interval", async () => {
    const { clock, writer, says, reports } = following();
    writer.toolStarted({ callId: "c2", tool: "bash", input: {} });
    reports.length = 0;
    for (let step = 1; step <= 50; step++) says(`step ${step}`);
    says("other", "c2");
    expect(reports).toEqual(["step 1", "other"]);
    await clock.advance(PROGRESS_EVERY_MS);
    expect(reports).toEqual(["step 1", "other", "step 50"]);
    await clock.advance(10 * PROGRESS_EVERY_MS);
    says("step 51");
    expect(reports).toEqual(["step 1", "other", "step 50", "step 51"]);
  });

  test("is short, however long the line is", () => {
    const { says, reports } = following();
    says("x".repeat(100_000));
    expect(reports[0]).toHaveLength(MAX_PROGRESS_CHARS);
  });

  test("is shown without secrets, also where a secret is cut by the end of a report or by the limit", async () => {
    const { clock, says, reports } = following();
    const long = "x".repeat(MAX_PROGRESS_CHARS - 8);
    const texts = [`key ${SECRET} read`, `key ${SECRET.slice(0, -3)}`, `${long}${SECRET}`];
    const parted = `${SECRET.slice(0, 6)}\u001b[0m${SECRET.slice(6)}`;
    for (const text of [...texts, `a ${parted} b`, `a ${parted.slice(0, -3)}`]) {
      says(text);
      await clock.advance(PROGRESS_EVERY_MS);
    }
    expect(reports[0]).toBe("key [redacted] read");
    expect(reports[1]).toBe("key");
    expect(reports[2]).toBe(`${long}[redacted]`.slice(0, MAX_PROGRESS_CHARS));
    expect(reports.slice(3)).toEqual(["a [redacted] b", "a"]);
    expect(reports.join()).not.toContain("token");
  });

  test("ends with the call, with its turn and with an attempt that is void", async () => {
    const ends: ((fx: ReturnType<typeof following>) => void)[] = [
      ({ writer }) => writer.toolEnded({ callId: "c1", isError: false, output: "fine" }),
      ({ writer }) => writer.close(),
      ({ live, batch }) => void live.open(batch),
      ({ events }) => events.emit("tool_refused", { ...CALL, status: "blocked" }),
    ];
    for (const end of ends) {
      const fx = following();
      fx.says("one");
      fx.says("two");
      end(fx);
      fx.says("three");
      await fx.clock.advance(10 * PROGRESS_EVERY_MS);
      expect(fx.reports).toEqual(["one"]);
      expect(fx.snapshot()?.filter((text) => text !== undefined && text !== "one") ?? []).toEqual([]);
    }
    const { writer, says, snapshot } = following();
    says("one");
    writer.toolEnded({ callId: "c1", isError: false, output: "fine" });
    expect(snapshot()).toEqual([undefined]);
  });

  test("is not shown for calls that never began or say nothing", () => {
    const { clock, says, reports } = following();
    says("text", "c9");
    expect(clock.pending()).toBe(0);
    says(" \n ");
    expect(reports).toEqual([]);
  });

  test("is not shown when the first of it comes after the turn is over", () => {
    const { writer, says, reports } = following();
    writer.close();
    says("one");
    expect(reports).toEqual([]);
  });

  test("is told once for as long as it stays the same", async () => {
    const { clock, says, reports } = following();
    for (const line of ["one", "one", "two"]) {
      says(line);
      await clock.advance(2 * PROGRESS_EVERY_MS);
    }
    expect(reports).toEqual(["one", "two"]);
  });

  test("is cut between characters", () => {
    const { says, reports } = following();
    says(`${"x".repeat(MAX_PROGRESS_CHARS - 1)}🌍`);
    expect(reports[0]?.isWellFormed()).toBe(true);
  });

  test.each([
    ["the ope", "the ope"],
    ["the oper", "the"],
  ])("that ends in what may begin a secret (%s) is shown as: %s", (text, expected) => {
    const { says, reports } = following();
    says(text);
    expect(reports).toEqual([expected]);
  });
});

test("the end of an earlier attempt does not take the one that runs now from view", () => {
  const fx = world();
  const next = fx.live.open({ ...fx.batch, attempt: 2 });
  fx.writer.close();
  expect(fx.live.snapshot(SESSION)?.tools).toEqual([]);
  next.close();
  expect(fx.live.snapshot(SESSION)).toBeNull();
});

test("thoughts of a model are shown apart from its words, without secrets, and up to a limit", () => {
  const fx = world();
  const told: string[] = [];
  fx.events.on("turn.thought", ({ text }) => void told.push(text));
  for (const piece of ["The token is oper", "ator-token-42, ", "I think."]) fx.writer.thought(piece);
  const { reasoning = "", text } = fx.live.snapshot(SESSION) ?? {};
  expect([reasoning, text]).toEqual([told.join(""), ""]);
  expect(reasoning).toEndWith(", I think.");
  expect(reasoning).not.toContain("token-42");
  fx.writer.thought("x".repeat(MAX_REASONING_CHARS));
  fx.writer.thought("more");
  expect(fx.live.snapshot(SESSION)?.reasoning).toHaveLength(MAX_REASONING_CHARS);
});
