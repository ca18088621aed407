/**
 * What every store promises about text: it comes back as it was written, whatever is in it. Two things need not survive, and are refused by
 * no door: U+0000 and half of a surrogate pair may come back as U+FFFD. What stands around them stays.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InboxId, Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { job } from "../../automation/job-fixture.ts";
import { storedKey } from "./api-key-contract.ts";
import { newSubscription } from "./push-subscription-contract.ts";
import { question } from "./approval-contract.ts";
import { KEEPS_ALL, storedResponse } from "./response-contract.ts";
import { end, HERE, intent, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

const STRANGE = [
  ...[
    "'; drop table inbox; --",
    '"quoted"',
    "back\\slash \\u0041 \\0",
    "100%_*?[a]$1:name@x",
    "tab\tline\r\nend\u0085\u2028",
  ],
  ...[
    "\u202eright to left עברית\u202c",
    "e\u0301 is not \u00e9",
    "ﬁ Å ß İ",
    "👩‍👩‍👧 𝕏",
    "\ufeffmark",
    "\ufffe\uffff",
    "\x01\x1f\x7f",
  ],
  ...["  spaces at the end  "],
].join("|");
/** Text that no engine has to keep as it is. */
const BROKEN = "before \0 between \ud800 and \udc00 after";
const LONG = "0123456789abcdef€".repeat(60_000); // more than a megabyte

/** The text in `{ text }`, which is JSON in the database. */
const textOf = (json: unknown): string => (json as { readonly text: string }).text;
const asKept = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

/** A field: writes the text into it under ids that contain `id`, and reads it back. */
type Field = (store: Store, text: string, id: string) => Promise<unknown>;

async function answered(store: Store, id: string, text: string): Promise<void> {
  await store.inbox.accept(row(`in-${id}`, id));
  await store.turns.begin(turn(`t-${id}`, id, [`in-${id}`]));
  await store.turns.finish(end(`t-${id}`, { reply: [{ part: 0, message: { text, kind: "reply" } }] }));
}

const waiting = async (store: Store, id: string) =>
  (await store.inbox.unfinished()).find((one) => one.id === `in-${id}`)?.message;

const FIELDS: Readonly<Record<string, Field>> = {
  "the text of a message": async (store, text, id) => {
    await store.inbox.accept(row(`in-${id}`, id, { text }));
    return (await waiting(store, id))?.text;
  },
  "the text of a message that was rewritten": async (store, text, id) => {
    await store.inbox.accept(row(`in-${id}`, id));
    await store.inbox.rewrite(`in-${id}` as InboxId, text, 1);
    return (await waiting(store, id))?.text;
  },
  "the name of a sender": async (store, text, id) => {
    await store.inbox.accept(row(`in-${id}`, id, { sender: { principal: OPERATOR, name: text } }));
    return (await waiting(store, id))?.sender.name;
  },
  "quoted text": async (store, text, id) => {
    const quoted = [{ how: "reply", author: { id: null, name: text }, text }] as const;
    await store.inbox.accept(row(`in-${id}`, id, { quoted }));
    return (await waiting(store, id))?.quoted[0]?.text;
  },
  "the text of a reply": async (store, text, id) => {
    await answered(store, id, text);
    const { items } = await store.sessions.transcript(sessionKey(id), { limit: 5 });
    const part = await store.outbox.part(`t-${id}:0`);
    expect(items.at(-1)?.text).toBe(part?.message.text ?? "");
    return part?.message.text;
  },
  "the text of a reply that was rewritten": async (store, text, id) => {
    await answered(store, id, "first");
    return (await store.outbox.rewrite(sessionKey(id), `t-${id}:0`, text, 9))?.message.text;
  },
  "the reason why a reply was given up": async (store, text, id) => {
    await answered(store, id, "x");
    await store.outbox.settle(`t-${id}:0`, { state: "dead", because: text }, 9);
    return (await store.outbox.list("dead", { limit: 50 })).items.find((one) => one.id === `t-${id}:0`)?.because;
  },
  "the input of a tool call": async (store, text, id) => {
    await store.toolCalls.intend({ ...intent(id, `t-${id}`, true), sessionKey: sessionKey(id), input: { text } });
    const { items } = await store.toolCalls.list({ sessionKey: sessionKey(id) }, { limit: 1 });
    return textOf(items[0]?.input);
  },
  "the output of a tool call": async (store, text, id) => {
    await store.toolCalls.intend({ ...intent(id, `t-${id}`, true), sessionKey: sessionKey(id) });
    await store.toolCalls.settle(id, { status: "success", output: text, ms: 1 });
    return (await store.toolCalls.list({ sessionKey: sessionKey(id) }, { limit: 1 })).items[0]?.output;
  },
  "a fact of a channel": async ({ channelState }, text, id) => {
    await channelState.put("telegram", id, "fact", text);
    return channelState.get("telegram", id, "fact");
  },
  "the body of a response": async ({ responses }, text, id) => {
    await responses.put(storedResponse(id, { body: { text } }), KEEPS_ALL);
    return textOf((await responses.find(id, OPERATOR))?.body);
  },
  "the words of a recording": async ({ transcriptions }, text, id) => {
    await transcriptions.put(id, text, 1);
    return transcriptions.find(id);
  },
};

/** What has a limit far below a megabyte before it comes here. */
const SHORT_FIELDS: Readonly<Record<string, Field>> = {
  "the key of a fact": async ({ channelState }, text, id) => {
    await channelState.put("telegram", id, text, "value");
    expect(await channelState.get("telegram", id, text)).toBe("value");
    return (await channelState.list("telegram", id, ""))[0]?.key;
  },
  "the key of a session": async (store, text, id) => {
    const key = `${sessionKey(id)}${text}` as SessionKey;
    await store.inbox.accept({ ...row(`in-${id}`, id), sessionKey: key });
    await store.turns.begin({ ...turn(`t-${id}`, id, [`in-${id}`]), sessionKey: key });
    await store.turns.finish(end(`t-${id}`));
    expect((await store.turns.list({ sessionKey: key }, { limit: 5 })).items).toHaveLength(1);
    return (await store.sessions.get(key))?.key.slice(sessionKey(id).length);
  },
  "the event id of a message": async (store, text, id) => {
    const eventId = `${id}${text}`;
    await store.inbox.accept(row(`in-${id}`, id, { eventId }));
    expect((await store.inbox.accept(row(`in2-${id}`, id, { eventId }))).kind).toBe("duplicate");
    expect(await store.inbox.newestVersion({ ...HERE, eventId })).toBe(`print-event-in-${id}`);
    return (await waiting(store, id))?.eventId.slice(id.length);
  },
  "the title of a note": async ({ notes }, text, id) => {
    const owner = `note:${id}` as Principal;
    const askedBy = { turnId: "none" as TurnId, callId: id };
    await notes.save({ id, owner, title: text, content: text, tags: [], askedBy, at: 1 });
    const [listed] = await notes.list(owner, 1);
    expect((await notes.get(owner, id))?.content).toBe(listed?.title ?? "");
    return listed?.title;
  },
  "the title of a task": async ({ tasks }, text, id) => {
    const owner = `task:${id}` as Principal;
    const askedBy = { turnId: "none" as TurnId, callId: id };
    await tasks.add({ id, owner, title: "x", dueDate: null, priority: "low", askedBy, at: 1 });
    await tasks.change(owner, id, { title: text }, 2);
    return (await tasks.list(owner, "all", 1))[0]?.title;
  },
  "the input of an approval": async ({ approvals }, text, id) => {
    await approvals.put(question(id, { input: { text }, because: text }));
    await approvals.end(id, { decision: "once", by: OPERATOR, at: 2 });
    const ended = (await approvals.ended({ limit: 50 })).items.find((one) => one.id === id);
    expect(asKept(textOf(ended?.input))).toBe(asKept(text));
    return ended?.because;
  },
  "the name of a key": async ({ apiKeys }, text, id) => {
    await apiKeys.put(storedKey(id, { name: text }));
    return (await apiKeys.list()).find((one) => one.id === id)?.name;
  },
  "the name of a browser that gets notifications": async ({ pushSubscriptions }, text, id) => {
    await pushSubscriptions.put(newSubscription(id, { browser: text }), 1_000);
    return (await pushSubscriptions.find(id))?.browser;
  },
  "the task of a job": async ({ jobs }, text, id) => {
    await jobs.add(job({ id, task: text, needs: [text] }));
    const read = await jobs.get(id);
    expect(asKept(read?.needs?.[0] ?? "")).toBe(asKept(text));
    return read?.task;
  },
  "the text of an event": async ({ systemEvents }, text, id) => {
    const about = {
      id,
      sessionKey: sessionKey(id),
      source: "job tea",
      kind: "news",
      createdAt: 1,
      expiresAt: 9,
    } as const;
    await systemEvents.add({ ...about, text });
    return (await systemEvents.claim(sessionKey(id), `t-${id}` as TurnId, 2)).events[0]?.text;
  },
  "the name of somebody who asks for access": async ({ pairings }, text, id) => {
    const about = { channel: id, account: "main", principal: OPERATOR, digest: id, state: "approved" } as const;
    await pairings.put({ ...about, id, name: text, createdAt: 1, expiresAt: 9, decidedAt: 2, decidedBy: OPERATOR });
    return (await pairings.list()).find((one) => one.id === id)?.name;
  },
  "a detail of an audit entry": async ({ audit }, text, id) => {
    await audit.note({ kind: "config.reloaded", at: 1, actor: "gateway", subject: id, detail: { changed: [text] } });
    const noted = (await audit.list({ limit: 50 })).items.find(({ subject }) => subject === id);
    return [noted?.detail["changed"]].flat()[0];
  },
  "the name of a tool of a session": async ({ sessionTools }, text, id) => {
    await sessionTools.save(sessionKey(id), { on: [{ tool: text, position: 1, at: 1 }], off: [] });
    return (await sessionTools.list(sessionKey(id)))[0]?.tool;
  },
};

export function textPromises(open: () => Promise<StoreWorld>): void {
  describe("text", () => {
    let world: StoreWorld;
    let count = 0;
    beforeAll(async () => void (world = await open()));
    afterAll(() => world[Symbol.asyncDispose]());
    const kept = (field: Field, text: string) => field(world.store, text, `s${count++}`);

    test.each(Object.entries({ ...FIELDS, ...SHORT_FIELDS }))(
      "%s comes back as it was, strange or broken",
      async (_, field) => {
        expect(await kept(field, STRANGE)).toBe(STRANGE);
        expect(asKept(String(await kept(field, BROKEN)))).toBe(asKept(BROKEN));
      },
    );

    test.each(Object.entries(FIELDS))("%s may have a megabyte", async (_, field) => {
      expect((await kept(field, LONG)) === LONG).toBe(true); // no difference of a megabyte is printed
    });
  });
}
