/** Which questions the web console shows, and that none comes back or stays behind. */
import { describe, expect, test } from "bun:test";
import type { OpenQuestion, QuestionNews } from "../../src/contracts/channels/question.ts";
import { hearQuestion, openElsewhere, shownIn, withOpen } from "./questions.ts";

const HERE = "agent:default:webchat:dm:1";
const question = (id: string, more: Partial<Record<keyof OpenQuestion, string>> = {}): OpenQuestion =>
  ({
    id,
    question: { kind: "confirm", title: "Sure?" },
    sessionKey: HERE,
    turnId: "t1",
    principal: "operator",
    askedAt: 1,
    expiresAt: 2,
    ...more,
  }) as unknown as OpenQuestion;
const open = (id: string, more = {}): QuestionNews => ({ ...question(id, more), end: null });
const ended = (id: string, more = {}): QuestionNews => ({
  ...question(id, more),
  end: { how: "answered", by: null, because: "Answered: Yes", said: "Yes" },
});
const ids = (asked: readonly QuestionNews[]) => asked.map(({ id }) => id);

describe("a question", () => {
  test("is heard of, ends once, and is not opened again", () => {
    const asked = [open("a"), ended("a"), open("a")].reduce(hearQuestion, [] as readonly QuestionNews[]);
    expect(asked).toEqual([ended("a")]);
  });

  test("of this conversation is shown while it is open, and after that as long as its turn goes on", () => {
    const asked = [open("a"), ended("b"), ended("c", { turnId: "t0" }), open("d", { sessionKey: "other" })];
    expect(ids(shownIn(asked, HERE, "t1"))).toEqual(["a", "b"]);
    expect(ids(shownIn(asked, HERE, null))).toEqual(["a"]);
  });

  test("of another conversation of the web console waits there; one of another channel does not wait for the web console", () => {
    const other = { sessionKey: "agent:default:webchat:dm:2" };
    const asked = [
      open("a"),
      open("b", other),
      ended("c", other),
      open("d", { sessionKey: "agent:default:telegram:dm:3" }),
    ];
    expect(ids(openElsewhere(asked, HERE))).toEqual(["b"]);
  });

  test("that the gateway does not name any more is gone; one that came meanwhile stays", () => {
    const before = [open("gone"), open("stays"), ended("past")];
    const now = [...before, open("new")];
    expect(ids(withOpen(now, before, [question("stays"), question("missed")]))).toEqual([
      ...["stays", "past", "new", "missed"],
    ]);
  });

  test("that has ended is forgotten when there are many", () => {
    const asked = Array.from({ length: 60 }, (_, at) => ended(`q${at}`)).reduce(
      hearQuestion,
      [] as readonly QuestionNews[],
    );
    expect([asked.length, asked[0]?.id]).toEqual([50, "q10"]);
  });
});
