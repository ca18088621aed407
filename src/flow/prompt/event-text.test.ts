/** System events as the model reads them: what is to be done, what is passed on, and how many are only counted. */
import { expect, test } from "bun:test";
import type { SystemEvent } from "../../contracts/automation/system-event.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { eventText } from "./event-text.ts";

const event = (kind: SystemEvent["kind"], text: string, more: Partial<SystemEvent> = {}): SystemEvent => ({
  id: text,
  sessionKey: "s" as SessionKey,
  source: `job ${kind}`,
  kind,
  text,
  createdAt: 0,
  expiresAt: 1,
  ...more,
});

test("events: a task is a line of facts, and text of others stands in a block of its own", () => {
  const { lines, blocks, realTexts } = eventText(createSeqIds(), {
    events: [event("task", "water the plants"), event("news", "it rains"), event("said", "it snows")],
    hidden: 0,
  });
  expect(lines).toEqual([
    "due now, from job task, do it and tell the person the result: water the plants",
    "news from job news, in a block of its own below: pass on to the person what matters in it",
    "job said has told the person what is in a block of its own below; do not repeat it",
  ]);
  expect(blocks.map((block) => ["water", "rains", "snows"].filter((word) => block.includes(word)))).toEqual([
    ["rains"],
    ["snows"],
  ]);
  expect(realTexts).toEqual([]);
});

test("events: the number of those that are not shown comes first", () => {
  const { lines } = eventText(createSeqIds(), { events: [event("news", "it rains")], hidden: 3 });
  expect(lines[0]).toBe("earlier events, not shown: 3");
});

test("events: a text that is kept otherwise than the model reads it has both, in the same block", () => {
  const { blocks, realTexts } = eventText(createSeqIds(), {
    events: [event("news", "the key is [redacted]", { real: "the key is 1234" })],
    hidden: 0,
  });
  expect(realTexts.map(({ kept }) => kept)).toEqual([...blocks]);
  expect([realTexts[0]?.kept.includes("1234"), realTexts[0]?.real.includes("the key is 1234")]).toEqual([false, true]);
});
