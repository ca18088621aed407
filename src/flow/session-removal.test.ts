/** Files of a session that is deleted while a process still has them. */
import { expect, test } from "bun:test";
import { GatewayError } from "../contracts/errors.ts";
import type { InboxId, Principal, SessionKey } from "../contracts/ids.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createSessionRemover } from "./session-removal.ts";

const KEY = "agent:default:api:dm:plans" as SessionKey;
const ME = "operator" as Principal;
const NEVER = new AbortController().signal;
const ROUND = ["cancel in_1 of api:user:ann", `abort ${KEY}`, "remove"];

/** `refusals`: how often the file cannot be removed yet. */
function removal(
  refusals: number,
  error = new GatewayError("conflict", "a process still has it"),
  more: Partial<Parameters<typeof createSessionRemover>[0]> = {},
) {
  const clock = createFakeClock();
  const gone: string[] = [];
  const emitted: string[] = [];
  let tries = 0;
  const remover = createSessionRemover({
    clock,
    events: { emit: (event: string) => void emitted.push(event), on: () => ({ [Symbol.dispose]: () => undefined }) },
    waiting: { cancel: async () => undefined as never },
    abort: () => undefined as never,
    sessions: {
      waiting: async () => [],
      remove: async () => ({ kind: "removed", messages: 2, media: 0, files: ["session-a.jsonl"] }),
    },
    audit: { note: async () => undefined as never },
    deadFiles: { fileGone: async (file) => void gone.push(file) },
    async removeFile() {
      if (tries++ < refusals) throw error;
    },
    ...more,
  } as Parameters<typeof createSessionRemover>[0]);
  return { clock, gone, emitted, tries: () => tries, removed: remover.remove(KEY, ME, NEVER) };
}

test("the file of a deleted session that a process still has is removed when the process has given it back", async () => {
  const { clock, gone, tries, removed } = removal(3);
  await clock.advance(1_000);
  expect(await removed).toEqual({ messages: 2, media: 0 });
  expect([tries(), gone]).toEqual([4, ["session-a.jsonl"]]);
});

test("a file that a process never gives back stays listed as dead, and the session is deleted all the same", async () => {
  const { clock, gone, emitted, removed } = removal(Infinity);
  await clock.advance(60_000);
  expect(await removed).toEqual({ messages: 2, media: 0 });
  expect([gone, emitted]).toEqual([[], ["session.deleted", "status"]]);
});

test("a file that cannot be removed for another reason is told to who deletes the session", async () => {
  const { removed } = removal(1, new GatewayError("store_failed", "the disk is broken"));
  await expect(removed).rejects.toThrow("the disk is broken");
});

test("a session in which something goes on for twenty seconds is not deleted, and each try stops its turn and withdraws what waits", async () => {
  const log: string[] = [];
  const ann = "api:user:ann" as Principal;
  const { clock, emitted, tries, removed } = removal(0, undefined, {
    sessions: {
      waiting: async () => [{ id: "in_1" as InboxId, sender: ann }],
      async remove() {
        log.push("remove");
        return { kind: "busy" };
      },
    },
    waiting: { cancel: async (id, sender) => void log.push(`cancel ${id} of ${sender}`) as never },
    abort: (key) => void log.push(`abort ${key}`) as never,
  });
  const failed = removed.catch((error: unknown) => error);
  await clock.advance(20_000);
  expect(log.slice(0, 6)).toEqual([...ROUND, ...ROUND]);
  expect(log).toHaveLength(201 * ROUND.length);
  await clock.advance(100);
  expect(await waitForEnd("the refusal", failed, { withinMs: 2_000 })).toMatchObject({ code: "conflict" });
  expect([log.length, tries(), emitted, clock.pending()]).toEqual([202 * ROUND.length, 0, [], 0]);
});

test("a session that does not exist is not waited for", async () => {
  const remove = async () => ({ kind: "unknown" }) as const;
  const { removed, emitted } = removal(0, undefined, { sessions: { waiting: async () => [], remove } });
  await expect(removed).rejects.toMatchObject({ code: "not_found" });
  expect(emitted).toEqual([]);
});
