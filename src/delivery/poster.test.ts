import { expect, test } from "bun:test";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import type { Posted } from "../contracts/store/posts.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createPoster } from "./poster.ts";

const POST = {
  turnId: "turn_1" as TurnId,
  sessionKey: "s" as SessionKey,
  onceKey: "k",
  to: { channel: "x", account: "default", chat: "1" },
  message: { kind: "reply", text: "look" } as const,
};

test.each([
  [{ kind: "posted", id: "turn_1:x1" }, 1],
  [{ kind: "full", max: 50 }, 0],
  [{ kind: "no_turn" }, 0],
] as const)("a post that is %p wakes the outbox %d times, after it was stored", async (posted: Posted, wakes) => {
  const order: string[] = [];
  const poster = createPoster({
    clock: createFakeClock(),
    store: { post: async ({ at }) => (order.push(`stored at ${at > 0}`), posted) },
    outbox: { wake: () => void order.push("woken") },
  });
  expect(await poster.post(POST)).toEqual(posted);
  expect(order).toEqual(["stored at true", ...Array<string>(wakes).fill("woken")]);
});
