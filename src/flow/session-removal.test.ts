/** Files of a session that is deleted while a process still has them. */
import { expect, test } from "bun:test";
import { GatewayError } from "../contracts/errors.ts";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createSessionRemover } from "./session-removal.ts";

const KEY = "agent:default:api:dm:plans" as SessionKey;
const ME = "operator" as Principal;
const NEVER = new AbortController().signal;

/** `refusals`: how often the file cannot be removed yet. */
function removal(refusals: number, error = new GatewayError("conflict", "a process still has it")) {
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
