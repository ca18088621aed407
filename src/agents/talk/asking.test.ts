/** What extensions ask: passed on for whom the process works, over with the turn, and never without an answer. */
import { expect, test } from "bun:test";
import type { Caller } from "../../contracts/agent.ts";
import type { ChatAnswer, ChatNote, Questions } from "../../contracts/channels/question.ts";
import { deferred } from "../../kit/deferred.ts";
import { caller } from "../../testing/agent-fixture.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { unhandledIn } from "../../testing/unhandled.ts";
import { createAsking } from "./asking.ts";

const dialog = { id: "u", title: "t", body: "", asks: { kind: "confirm", title: "t" } } as const;
const ANN = caller("telegram:user:1");

function world() {
  const clock = createFakeClock();
  const asked: { of: Caller; answer: ReturnType<typeof deferred<ChatAnswer>>; signal: AbortSignal }[] = [];
  const told: [ChatNote, Caller][] = [];
  const questions: Pick<Questions, "ask" | "tell"> = {
    ask(_question, of, signal) {
      const answer = deferred<ChatAnswer>();
      signal.addEventListener("abort", () => answer.resolve({ kind: "none" }));
      asked.push({ of, answer, signal });
      return answer.promise;
    },
    tell: async (note, of) => void told.push([note, of]),
  };
  return { clock, asked, told, asking: createAsking({ clock, log: recordingLog(), questions }) };
}

test.each<[ChatAnswer, Record<string, unknown>]>([
  [{ kind: "chosen", option: "a" }, { value: "a" }],
  [{ kind: "confirmed", yes: false }, { confirmed: false }],
  [{ kind: "said", text: "" }, { value: "" }],
  [{ kind: "none" }, { cancelled: true }],
])("%j is %j in pi's words", async (answer, response) => {
  const at = world();
  at.asking.serve(ANN);
  const answered = at.asking.ask(dialog);
  expect(at.asked[0]?.of).toBe(ANN);
  at.asked[0]?.answer.resolve(answer);
  expect(await answered).toEqual(response);
});

test("outside of a turn nobody is asked or told", async () => {
  const at = world();
  at.asking.tell({ text: "hello", level: "info" });
  expect(await at.asking.ask(dialog)).toEqual({ cancelled: true });
  at.asking.serve(ANN);
  at.asking.hush();
  expect(await at.asking.ask(dialog)).toEqual({ cancelled: true });
  at.asking.tell({ text: "hello", level: "info" });
  expect([at.asked, at.told]).toEqual([[], []]);
  at.asking.listen();
  void at.asking.ask(dialog);
  at.asking.tell({ text: "hello", level: "info" });
  expect([at.asked.length, at.told]).toEqual([1, [[{ text: "hello", level: "info" }, ANN]]]);
});

test("a turn that is over, and a lease that is another's, end the questions of the one before", async () => {
  const at = world();
  at.asking.serve(ANN);
  const first = at.asking.ask(dialog);
  at.asking.hush();
  expect(await first).toEqual({ cancelled: true });
  at.asking.listen();
  const second = at.asking.ask(dialog);
  at.asking.serve(caller("telegram:user:2"));
  expect(await second).toEqual({ cancelled: true });
});

test("a person who thinks is a sign of life", async () => {
  const at = world();
  at.asking.serve(ANN);
  const answered = at.asking.ask(dialog);
  await at.clock.advance(90_000);
  expect(at.asking.lastAsked()).toBe(at.clock.elapsed());
  at.asked[0]?.answer.resolve({ kind: "confirmed", yes: true });
  await answered;
  const then = at.clock.elapsed();
  await at.clock.advance(5_000);
  expect(at.asking.lastAsked()).toBe(then);
});

test("a note that cannot be told is nobody's unhandled failure", async () => {
  const log = recordingLog();
  const questions = {
    ask: async () => ({ kind: "none" }) as const,
    tell: () => Promise.reject(new Error("disk full")),
  };
  const asking = createAsking({ clock: createFakeClock(), log, questions });
  asking.serve(ANN);
  expect(await unhandledIn(async () => asking.tell({ text: "hello", level: "info" }))).toEqual([]);
  expect(log.lines).toMatchObject([{ words: "note of an agent not told" }]);
});
