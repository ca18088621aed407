/** What pi writes: in order, whole, together where it is of one moment, and with pi waiting where nobody reads. */
import { expect, test } from "bun:test";
import { createOutput } from "./events-together.ts";

function output() {
  const leaving: { readonly text: string; readonly done: (error?: Error | null) => void }[] = [];
  const planned: (() => void)[] = [];
  const failures: string[] = [];
  const made = createOutput({
    write: (text, done) => leaving.push({ text, done }),
    later: (run) => planned.push(run),
    failed: ({ message }) => failures.push(message),
  });
  const told: string[] = [];
  const say = (text: string) => made.write(text, (error) => told.push(error ? `${text}: ${error.message}` : text));
  const pass = () => planned.splice(0).forEach((run) => run());
  return {
    say,
    pass,
    flush: made.flush,
    leaving,
    planned,
    told,
    failures,
    texts: () => leaving.map(({ text }) => text),
  };
}

test("events of one moment leave together and in order, and pi does not wait for them", () => {
  const at = output();
  for (const text of ["a\n", "b\n", "c\n"]) at.say(text);
  expect([at.texts(), at.told]).toEqual([[], ["a\n", "b\n", "c\n"]]);
  at.pass();
  expect(at.texts()).toEqual(["a\nb\nc\n"]);
  at.leaving[0]?.done();
  at.say("d\n");
  at.pass();
  expect(at.texts()).toEqual(["a\nb\nc\n", "d\n"]);
});

test("the end of a tool leaves at once, behind what was held before it", () => {
  const at = output();
  at.say('{"type":"tool_execution_update"}\n');
  at.say('{"type":"tool_execution_end","toolCallId":"1"}\n');
  expect(at.texts()).toEqual(['{"type":"tool_execution_update"}\n{"type":"tool_execution_end","toolCallId":"1"}\n']);
  at.pass();
  expect(at.leaving).toHaveLength(1);
});

test("pi waits for an event while what it said before has not left, and behind 65,536 characters", () => {
  const at = output();
  at.say("a\n");
  at.pass();
  at.say("b\n"); // the gateway has not read a yet
  expect([at.texts(), at.told]).toEqual([["a\n", "b\n"], ["a\n"]]);
  at.leaving[1]?.done();
  expect(at.told).toEqual(["a\n", "b\n"]);
  at.leaving[0]?.done();
  at.say("c".repeat(65_536));
  expect(at.told).toEqual(["a\n", "b\n"]);
  expect(at.texts().at(-1)).toHaveLength(65_536);
});

test("an empty text is answered when everything before it has left", () => {
  const at = output();
  at.say("a\n");
  at.say("");
  expect([at.texts(), at.told]).toEqual([["a\n"], ["a\n"]]);
  at.leaving[0]?.done();
  expect(at.told).toEqual(["a\n", ""]);
});

test("events that are held leave at once when the process ends, and none leaves twice", () => {
  const at = output();
  at.say("a\n");
  at.flush();
  at.pass();
  at.flush();
  expect(at.texts()).toEqual(["a\n"]);
});

test("an event that cannot be written is told to pi where it waits, and ends the process where it does not", () => {
  const at = output();
  at.say("a\n");
  at.pass();
  at.say("b\n");
  at.leaving[1]?.done(new Error("broken pipe"));
  expect([at.told, at.failures]).toEqual([["a\n", "b\n: broken pipe"], []]);
  at.leaving[0]?.done(new Error("broken pipe"));
  expect(at.failures).toEqual(["broken pipe"]);
});
