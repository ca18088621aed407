/** Replies pass the plugins that check them: an answer that cannot be read counts as a failed check. */
import { expect, test } from "bun:test";
import type { ReplyPart } from "../../contracts/delivery.ts";
import type { HookHandler } from "../../contracts/plugin-hooks.ts";
import type { Batch } from "../../contracts/queue.ts";
import { createHooks } from "../../plugins/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { reviewReply } from "./reply-review.ts";

const BATCH = { sessionKey: "s", entries: [{ message: { address: {} } }] } as unknown as Batch;
const PART = { part: 0, message: { kind: "reply", text: "the key is 1234" } } as ReplyPart;
const HELD_BACK = "The reply was held back because the plugin masker could not check it.";

/** What the chat gets for the reply "the key is 1234" once a plugin has answered. */
async function sent(answer: unknown): Promise<string> {
  const [clock, log] = [createFakeClock(), recordingLog()];
  const hooks = createHooks({ clock, log });
  hooks.on("message_sending", (() => answer) as HookHandler<"message_sending">, "masker");
  const [reviewed] = await reviewReply({ clock, log, hooks }, BATCH, [PART]);
  expect(clock.pending()).toBe(0); // no time limit outlives its check
  return reviewed?.message.text ?? "nothing";
}

test.each([undefined, null, {}])("a reply that a plugin leaves alone (%p) is sent as it is", async (answer) => {
  expect(await sent(answer)).toBe("the key is 1234");
});

test("a reply is held back when a plugin has not checked it after fifteen seconds, and the plugin is told to stop", async () => {
  const [clock, log] = [createFakeClock(), recordingLog()];
  const hooks = createHooks({ clock, log });
  const given: AbortSignal[] = [];
  const hang: HookHandler<"message_sending"> = (_event, signal) => {
    given.push(signal);
    return new Promise<never>(() => undefined);
  };
  hooks.on("message_sending", hang, "masker");
  const reviewing = reviewReply({ clock, log, hooks }, BATCH, [PART]);
  await clock.advance(14_999);
  expect(given[0]?.aborted).toBe(false);
  await clock.advance(1);
  const [reviewed] = await waitForEnd("the review", reviewing, { withinMs: 2_000 });
  expect([reviewed?.message.text, given[0]?.aborted]).toEqual([HELD_BACK, true]);
});

test("a reply passes several plugins in their order, each with what the one before made of it", async () => {
  const [clock, log] = [createFakeClock(), recordingLog()];
  const hooks = createHooks({ clock, log });
  for (const name of ["one", "two"]) hooks.on("message_sending", ({ text }) => ({ text: `${text}, ${name}` }), name);
  const [reviewed] = await reviewReply({ clock, log, hooks }, BATCH, [PART]);
  expect(reviewed?.message.text).toBe("the key is 1234, one, two");
});

test("a reply that a plugin rewrites is sent as rewritten", async () => {
  expect(await sent({ text: "the key is hidden" })).toBe("the key is hidden");
});

test.each([{ txt: "hidden" }, { text: 5 }, "hidden", false, { text: "hidden", block: true }])(
  "a reply is held back when a plugin answers %p, which cannot be read",
  async (answer) => {
    expect(await sent(answer)).toBe(HELD_BACK);
  },
);
