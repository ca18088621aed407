/** Replies pass the plugins that check them: an answer that cannot be read counts as a failed check. */
import { expect, test } from "bun:test";
import type { ReplyPart } from "../../contracts/delivery.ts";
import type { HookHandler } from "../../contracts/plugin-hooks.ts";
import type { Batch } from "../../contracts/queue.ts";
import { createHooks } from "../../plugins/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { reviewReply } from "./reply-review.ts";

/** What the chat gets for the reply "the key is 1234" once a plugin has answered. */
async function sent(answer: unknown): Promise<string> {
  const [clock, log] = [createFakeClock(), recordingLog()];
  const hooks = createHooks({ clock, log });
  hooks.on("message_sending", (() => answer) as HookHandler<"message_sending">, "masker");
  const batch = { sessionKey: "s", entries: [{ message: { address: {} } }] } as unknown as Batch;
  const part = { part: 0, message: { kind: "reply", text: "the key is 1234" } } as ReplyPart;
  const [reviewed] = await reviewReply({ clock, log, hooks }, batch, [part]);
  expect(clock.pending()).toBe(0); // no time limit outlives its check
  return reviewed?.message.text ?? "nothing";
}

test.each([undefined, null, {}])("a reply that a plugin leaves alone (%p) is sent as it is", async (answer) => {
  expect(await sent(answer)).toBe("the key is 1234");
});

test("a reply that a plugin rewrites is sent as rewritten", async () => {
  expect(await sent({ text: "the key is hidden" })).toBe("the key is hidden");
});

test.each([{ txt: "hidden" }, { text: 5 }, "hidden", false, { text: "hidden", block: true }])(
  "a reply is held back when a plugin answers %p, which cannot be read",
  async (answer) => {
    expect(await sent(answer)).toBe("The reply was held back because the plugin masker could not check it.");
  },
);
