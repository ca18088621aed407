/** What every store promises about known secrets: they are in nothing that goes to people, whichever method put it there. */
import { expect, test } from "bun:test";
import type { InboxId, MediaId, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { NO_MASK } from "../../../kit/secret.ts";
import { AGENT, end, HERE, type OpenStoreWorld, OPERATOR, row, sessionKey, turn } from "./store-world.ts";

export const SECRET = "operator-token-42";
export const MASK = { ...NO_MASK, text: (text: string) => text.replaceAll(SECRET, "[redacted]") };

/** Each way into the outbox, in an order in which all of them work. Messages `in1` and `in2` of session `a` wait. */
export async function writeSecrets(store: Store): Promise<void> {
  const file = { mediaId: "media_1" as MediaId, name: `${SECRET}.png`, mimeType: "image/png", bytes: 1 };
  const message = { text: `it is ${SECRET}`, kind: "reply", attachments: [file] } as const;
  const reply = [{ part: 0, message }];
  for (const n of [1, 2, 3]) await store.inbox.accept(row(`in${n}`, "a"));
  await store.turns.begin(turn("t1", "a", ["in1"]));
  const to = { turnId: "t1" as TurnId, sessionKey: sessionKey("a"), to: HERE, at: 1 };
  const unbegun = {
    turnId: "t2" as TurnId,
    agentId: AGENT,
    inboxIds: ["in2" as InboxId],
    outcome: "aborted",
    reply,
  } as const;
  const said = { turnId: "t3" as TurnId, sessionKey: sessionKey("b"), agentId: AGENT, principal: OPERATOR, reply };
  const tried = { attempts: 1, lost: 0, delivered: 0, doubt: false, firstTriedAt: 1, nextTryAt: 2 };
  const failed = { outcome: "failed", reply, error: { code: "internal", detail: SECRET } } as const;
  const spans = [{ name: `tool:${SECRET}`, startMs: 0, ms: 1 }];
  const ways: Record<string, () => Promise<unknown>> = {
    post: () => store.outbox.post({ ...to, onceKey: "x", message }),
    finish: () => store.turns.finish(end("t1", { ...failed, spans })),
    endUnbegun: () => store.turns.endUnbegun({ ...to, ...unbegun }),
    say: () => store.sessionChats.say({ ...to, ...said }),
    wait: () => store.outbox.markWaiting("t1:0", { ...tried, because: SECRET }),
    settle: () => store.outbox.settle("t2:0", { state: "dead", because: `at ${SECRET}` }, 3),
    noteInChat: () => store.outbox.noteInChat("t1:0", `${SECRET} did not arrive`, 4),
    rewrite: () => store.outbox.rewrite(sessionKey("a"), "t1:0", `now it is ${SECRET}`, 2),
  };
  for (const [way, write] of Object.entries(ways)) expect([way, await write()]).not.toEqual([way, false]);
}

export function maskPromises(open: OpenStoreWorld): void {
  test("a message in the outbox is stored without secrets, whichever method put it there", async () => {
    await using world = await open({ mask: MASK });
    const { store } = world;
    await writeSecrets(store);
    const seen = JSON.stringify([
      await Promise.all((await store.outbox.pending(100)).map(({ id }) => store.outbox.part(id))),
      await Promise.all(["a", "b"].map((name) => store.sessions.transcript(sessionKey(name), { limit: 100 }))),
      await store.outbox.list("dead", { limit: 100 }),
      await store.sessions.list({}, { limit: 100 }),
      await store.turns.list({}, { limit: 100 }),
      await store.turns.get("t1" as TurnId),
    ]);
    expect(seen).not.toContain(SECRET);
    expect(seen.split("it is [redacted]").length - 1).toBeGreaterThanOrEqual(8); // four parts, read in two places each
  });
}
