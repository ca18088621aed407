import { describe, expect, test } from "bun:test";
import type { TranscriptItem } from "../../src/contracts/chat.ts";
import type { TurnId } from "../../src/contracts/ids.ts";
import type { Said } from "./crowd.ts";
import { judge } from "./verdict.ts";

const SESSION = "agent:default:webchat:dm:crowd-0";
const CALM = { lost: [], unheard: [], doubled: [], wrong: [], outOfOrder: [], notices: 0 };

function said(text: string, changes: Partial<Said> = {}): Said {
  const one = { client: "page-0", session: SESSION, text: `echo: ${text}`, acknowledged: true, gaveUp: false };
  return { ...one, answers: [{ turnId: "turn", text }], ...changes };
}

function asked(id: string, text: string): TranscriptItem {
  return { id, inboxId: id as never, role: "user", text: `echo: ${text}`, at: 0, turnId: `turn-${id}` as TurnId };
}

function answer(id: string, text: string, kind: "reply" | "notice" = "reply"): TranscriptItem {
  return { id: `turn-${id}:0`, role: "assistant", kind, text, at: 0, turnId: `turn-${id}` as TurnId };
}

function judged(people: readonly Said[], items: readonly TranscriptItem[], texts: readonly string[] = []) {
  const shown = texts.length > 0 ? [{ session: SESSION, ids: [], texts }] : [];
  return judge(people, new Map([[SESSION, items]]), shown);
}

const TWO = [asked("1", "a"), answer("1", "a"), asked("2", "b"), answer("2", "b")];

describe("the verdict of a chaos run", () => {
  test("is calm when each acknowledged message has its one answer, in order", () => {
    expect(judged([said("a"), said("b")], TWO)).toEqual(CALM);
  });

  test("calls a message lost that was acknowledged and has no answer, or is not there", () => {
    const items = [asked("1", "a"), answer("1", "a"), asked("2", "b")];
    expect(judged([said("a"), said("b"), said("c")], items).lost).toEqual(["echo: b", "echo: c"]);
  });

  test("notices a client that still waits for an answer, unless it hung up", () => {
    const waiting = [said("a", { answers: [] }), said("b", { answers: [], gaveUp: true })];
    expect(judged(waiting, TWO)).toEqual({ ...CALM, unheard: ["echo: a"] });
  });

  test("expects nothing for a message that nobody acknowledged", () => {
    expect(judged([said("a"), said("b"), said("c", { acknowledged: false })], TWO)).toEqual(CALM);
  });

  test("notices a message that was stored twice", () => {
    const items = [...TWO, asked("3", "b"), answer("3", "b")];
    expect(judged([said("a"), said("b")], items).doubled).toEqual(["echo: b"]);
  });

  test("notices a turn with two replies", () => {
    const twice = { ...answer("2", "b"), id: "turn-2:1" };
    expect(judged([said("a"), said("b")], [...TWO, twice]).doubled).toEqual(["echo: b"]);
  });

  test("notices what one client was shown twice under two ids", () => {
    expect(judged([said("a"), said("b")], TWO, ["assistant a", "assistant b", "assistant a"]).doubled).toEqual([
      "assistant a",
    ]);
  });

  test("notices a program that got two different answers under one key", () => {
    const answers = [
      { turnId: "turn-1", text: "a" },
      { turnId: "turn-9", text: "a" },
    ];
    expect(judged([said("a", { answers }), said("b")], TWO).doubled).toEqual(["echo: a"]);
  });

  test("notices an answer with somebody else's words, and words nobody said", () => {
    const items = [asked("1", "a"), answer("1", "b"), asked("2", "z"), answer("2", "z")];
    expect(judged([said("a")], items).wrong).toEqual(["echo: z", "echo: a"]);
  });

  test("allows a notice to the owner about a reply to another chat, and no other turn that nobody asked for", () => {
    const unasked = (id: string, kind: "reply" | "notice") => ({
      ...answer("9", "A reply may not have arrived.", kind),
      turnId: id as TurnId,
    });
    const people = [said("a"), said("b")];
    expect(judged(people, [...TWO, unasked("undelivered-1", "notice")])).toEqual({ ...CALM, notices: 1 });
    expect(judged(people, [...TWO, unasked("undelivered-1", "reply")]).wrong).toEqual(["undelivered-1"]);
    expect(judged(people, [...TWO, unasked("turn-9", "notice")]).wrong).toEqual(["turn-9"]);
  });

  test("notices something shown that is not in the conversation", () => {
    const shown = [{ session: SESSION, ids: ["turn-7:0"], texts: ["assistant x"] }];
    expect(judge([said("a"), said("b")], new Map([[SESSION, TWO]]), shown).wrong).toEqual(["turn-7:0"]);
  });

  test("notices answers out of the order of acceptance, and a page whose words were overtaken", () => {
    const swapped = [asked("2", "a"), answer("2", "a"), asked("1", "b"), answer("1", "b")];
    expect(judged([said("a"), said("b")], swapped).outOfOrder).toEqual(["1"]);
    expect(judged([said("b"), said("a")], TWO).outOfOrder).toEqual(["echo: a"]);
  });

  test("counts a notice as an answer, and says how many there were", () => {
    const items = [asked("1", "a"), answer("1", "The agent died three times.", "notice")];
    expect(judged([said("a")], items)).toEqual({ ...CALM, notices: 1 });
  });
});
