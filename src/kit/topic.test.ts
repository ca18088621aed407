/** A topic: who hears what is announced, and for how long. */
import { expect, test } from "bun:test";
import { createTopic } from "./topic.ts";

test("every listener hears a value once, in the order of their coming", () => {
  const topic = createTopic<number>();
  const heard: string[] = [];
  topic.subscribe((value) => heard.push(`first ${value}`));
  topic.subscribe((value) => heard.push(`second ${value}`));
  topic.publish(1);
  expect(heard).toEqual(["first 1", "second 1"]);
});

test("a listener that was disposed hears nothing more, also when that happens during an announcement", () => {
  const topic = createTopic<number>();
  const heard: number[] = [];
  const listening = topic.subscribe((value) => {
    heard.push(value);
    listening[Symbol.dispose]();
  });
  topic.publish(1);
  topic.publish(2);
  expect(heard).toEqual([1]);
});
