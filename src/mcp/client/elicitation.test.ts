/** What servers ask in the middle of a call, as questions to a person. */
import { expect, test } from "bun:test";
import type { Caller } from "../../contracts/agent.ts";
import type { ChatAnswer, ChatQuestion } from "../../contracts/channels/question.ts";
import { elicit } from "./elicitation.ts";

const NEVER = new AbortController().signal;
const CALLER = {} as Caller;

async function asking(request: unknown, answers: readonly ChatAnswer[]) {
  const asked: ChatQuestion[] = [];
  const left = [...answers];
  const ask = async (question: ChatQuestion): Promise<ChatAnswer> => {
    asked.push(question);
    return left.shift() ?? { kind: "none" };
  };
  return { answer: await elicit({ ask }, { server: "shop", request, caller: CALLER }, NEVER), asked };
}

const form = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  message: "Details?",
  requestedSchema: { type: "object", properties, required },
});
const said = (text: string): ChatAnswer => ({ kind: "said", text });
const chosen = (option: string): ChatAnswer => ({ kind: "chosen", option });
const confirmed = (yes: boolean): ChatAnswer => ({ kind: "confirmed", yes });

test.each([
  [{ n: { type: "string" } }, [said("Ada")], { n: "Ada" }],
  [{ n: { type: "integer", minimum: 2 } }, [said("x"), said("1"), said("3")], { n: 3 }],
  [{ n: { type: "boolean" } }, [confirmed(false)], { n: false }],
  [{ n: { type: "string", enum: ["a", "b"], enumNames: ["First", "Second"] } }, [chosen("Second")], { n: "b" }],
  [{ n: { type: "string", oneOf: [{ const: "a", title: "First" }] } }, [chosen("First")], { n: "a" }],
  [{ n: { type: "array", items: { enum: ["a", "b"] } } }, [said("a, c"), said("a, b")], { n: ["a", "b"] }],
  [{ n: { type: "string", format: "email" } }, [said("ada"), said("ada@example.org")], { n: "ada@example.org" }],
  [{ n: { type: "string", minLength: 3 } }, [said("ab"), said("abc")], { n: "abc" }],
])("a form of %j answered with %j gives %j", async (properties, answers, content) => {
  expect((await asking(form(properties), answers)).answer).toEqual({ action: "accept", content });
});

test("an optional field can be left out, by a choice or by a dash", async () => {
  const properties = { a: { type: "string" }, b: { type: "string", enum: ["x"] } };
  const { answer } = await asking(form(properties, []), [said("-"), chosen("(leave it out)")]);
  expect(answer).toEqual({ action: "accept", content: {} });
});

test("a person who does not answer, or answers wrongly three times, ends the asking", async () => {
  expect((await asking(form({ n: { type: "string" } }), [])).answer).toEqual({ action: "cancel" });
  const wrong = [said("x"), said("y"), said("z"), said("4")];
  expect((await asking(form({ n: { type: "number" } }), wrong)).answer).toEqual({ action: "cancel" });
});

test("a question names its server before the server's words, and each field", async () => {
  const { asked } = await asking(form({ n: { type: "string", title: "Name", description: "of the ship" } }), []);
  expect(asked).toEqual([{ kind: "input", title: "The MCP server shop asks: Details?\nName (of the ship)" }]);
});

test.each([
  ["https://login.example.org/x", confirmed(true), { action: "accept", content: {} }],
  ["https://login.example.org/x", confirmed(false), { action: "decline" }],
  ["javascript:alert(1)", confirmed(true), { action: "decline" }],
  ["file:///etc/passwd", confirmed(true), { action: "decline" }],
] as const)("the address %s, to which the person says %j, is answered with %j", async (url, said, expected) => {
  const { answer, asked } = await asking({ mode: "url", message: "Sign in", url }, [said]);
  expect(answer).toEqual(expected);
  expect(asked.every((question) => question.kind === "confirm" && question.text?.includes("login.example.org"))).toBe(
    true,
  );
});

test.each([
  [null],
  [7],
  [{ requestedSchema: { properties: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, {}])) } }],
])("a request that is none, or asks for too much, asks nobody (%#)", async (request) => {
  const { answer, asked } = await asking(request, [confirmed(true)]);
  expect([answer, asked]).toEqual([{ action: "cancel" }, []]);
});
