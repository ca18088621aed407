/** What the statements cost: each must find its rows by an index, however many rows there are. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { JobStore } from "../contracts/automation/job.ts";
import type { InboxId, MediaId, TurnId } from "../contracts/ids.ts";
import { USAGE_BY } from "../contracts/store/usage.ts";
import { systemClock } from "../kit/clock.ts";
import { silentLog } from "../kit/log.ts";
import { marked } from "../testing/contracts/automation/hook-mark-contract.ts";
import { storedKey } from "../testing/contracts/store/api-key-contract.ts";
import { newSubscription } from "../testing/contracts/store/push-subscription-contract.ts";
import { question } from "../testing/contracts/store/approval-contract.ts";
import { storedRule } from "../testing/contracts/store/approval-rule-contract.ts";
import { AGENT, end, HERE, intent, OPERATOR, row, sessionKey, turn } from "../testing/contracts/store/store-world.ts";
import { keyed } from "../testing/contracts/store/idempotent-answer-contract.ts";
import { KEEPS_ALL, storedResponse } from "../testing/contracts/store/response-contract.ts";
import { spent } from "../testing/contracts/store/usage-contract.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { tempHome } from "../testing/temp-home.ts";
import { migrate } from "./migrate.ts";
import { assemble } from "./assemble.ts";
import { createSql } from "./sqlite-sql.ts";

/** Every statement that a store prepares while each of its methods is used. */
async function statementsUsed(db: Database): Promise<readonly string[]> {
  await using home = await tempHome();
  const texts: string[] = [];
  const watched = new Proxy(db, {
    get(target, name) {
      if (name === "prepare") {
        return (text: string) => {
          texts.push(text);
          return target.prepare(text);
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const deps = { clock: systemClock, ids: createSeqIds(), log: silentLog };
  const store = assemble(deps, { ...createSql(watched), close: () => undefined }, home.path);
  await store.inbox.accept(row("in1", "a"));
  await store.inbox.accept(row("in1", "a"));
  await store.turns.begin(turn("t1", "a", ["in1"]));
  await store.turns.begin(turn("t1", "a", ["in1"]));
  await store.toolCalls.intend(intent("c1", "t1", false));
  await store.toolCalls.settle("c1", { status: "success", output: "", ms: 1 });
  const message = { text: "x", kind: "reply" } as const;
  const posted = { turnId: "t1" as TurnId, sessionKey: sessionKey("a"), to: row("in1", "a").message.address, at: 1 };
  await store.outbox.post({ ...posted, onceKey: "k", message });
  await store.outbox.rewrite(sessionKey("a"), "t1:0", "y", 1);
  await store.toolCalls.intend({ ...intent("c2", "t1", false), waiting: true });
  await store.toolCalls.begin("c2");
  await store.toolCalls.refuse(intent("c3", "t1", true), { status: "blocked", output: "no" });
  await store.toolCalls.earlier("turn:t1", "call-c1");
  await store.toolCalls.timesSince({ principal: OPERATOR, tool: "echo" }, 0);
  await store.toolCalls.prune(10_000);
  for (const status of ["success", "error", "pending", undefined] as const)
    for (const tool of ["echo", undefined])
      for (const session of [{}, { sessionKey: sessionKey("a") }])
        for (const time of [{}, { since: 1, until: 9 }]) {
          const filter = { ...(status ? { status } : {}), ...(tool ? { tool } : {}), ...session, ...time };
          await store.toolCalls.list(filter, { limit: 10 });
        }
  await store.turns.finish(end("t1", { attempt: 2 }));
  const old = { before: 1, from: null, limit: 1 };
  for (const drop of ["dropTurns", "dropSessions", "dropConversations", "dropMedia"] as const)
    await store.retention[drop](old);
  await store.turns.resultOf("in1" as InboxId);
  await store.turns.get("t1" as TurnId);
  for (const outcome of [{}, { outcome: "done" }, { outcome: "failed" }, { outcome: "aborted" }] as const)
    for (const session of [{}, { sessionKey: sessionKey("a") }])
      await store.turns.list({ ...outcome, ...session }, { limit: 10 });
  for (const filter of [{}, { agent: "a", person: OPERATOR, channel: "api", outcome: "failed", text: "x" }] as const)
    await store.activity.list(filter, { limit: 10 });
  await store.signIns.list(1);
  await store.inbox.unfinished();
  await store.inbox.senderOf("in1" as InboxId);
  const by = { principal: OPERATOR, name: "n" };
  await store.outbox.react("t1:0", { by, how: "set", emoji: ["👍"] }, 1);
  await store.outbox.react("t1:0", { by, how: "set", emoji: [] }, 1);
  const where = { sessionKey: sessionKey("a"), to: HERE };
  await store.messages.find(where, "t1:0");
  await store.messages.find(where, "12345");
  await store.messages.platformIds("in1");
  await store.messages.traffic("webchat", "main");
  await store.messages.idOf(HERE, "12345");
  await store.messages.mark("in1", { pinned: true }, 1);
  await store.messages.mark("t1:0", { reactions: ["👍"] }, 1);
  await store.messages.history(sessionKey("a"), { limit: 5 });
  await store.outbox.tell(sessionKey("a"), "t1" as TurnId);
  await store.inbox.rewrite("in1" as InboxId, "x", 1);
  await store.inbox.accept({ ...row("in8", "a"), overflow: { maxShown: 1 } });
  await store.inbox.accept({ ...row("in9", "a"), overflow: { maxShown: 1 } });
  const overflow = { through: "in9" as InboxId, chat: HERE };
  await store.turns.begin({ ...turn("t9", "a", ["in9"]), overflow });
  await store.turns.join({ turnId: "t9" as TurnId, attempt: 1, inboxIds: [] });
  await store.turns.finish(end("t9"));
  await store.inbox.accept(row("in10", "a"));
  const unbegun = { inboxIds: ["in10" as InboxId], outcome: "aborted", reply: [], to: HERE, at: 1 } as const;
  await store.turns.endUnbegun({ ...turn("t10", "a", []), ...unbegun });
  await store.sessions.setQueueMode(sessionKey("a"), "steer");
  await store.outbox.pending(10);
  await store.outbox.part("t1:0");
  await store.outbox.handTo(store.instanceId, ["t1:0"]);
  await store.nodes.takeOver();
  await store.turns.leave("t9" as TurnId, 1);
  await store.turns.countCrashes(3);
  const counts = { attempts: 1, lost: 0, delivered: 0, doubt: false };
  await store.outbox.markSending("t1:0", { ...counts, at: 1, claimedUntil: 2 });
  await store.outbox.markWaiting("t1:0", { ...counts, firstTriedAt: 1, nextTryAt: 2, because: "x" });
  await store.outbox.markSent("t1:0", 1);
  await store.outbox.settle("t1:0", { state: "dead", because: "x" }, 1);
  await store.outbox.noteInChat("t1:0", "x", 1);
  await store.outbox.list("dead", { limit: 10 });
  await store.outbox.endsSince("dead", 1, 10);
  await store.outbox.retry("t1:0", { by: OPERATOR, mayRepeat: true }, 1);
  await store.outbox.list("ambiguous", { limit: 10 });
  await store.sessions.get(sessionKey("a"));
  await store.sessions.reset(sessionKey("a"), 1);
  await store.sessions.total();
  await store.sessions.configure(sessionKey("a"), { model: "m" });
  await store.sessions.rename(sessionKey("a"), null);
  const asker = { sessionKey: sessionKey("a"), agentId: AGENT, principal: OPERATOR };
  await store.conversations.list(asker, 10);
  const [kept] = await store.conversations.list(asker, 10);
  await store.conversations.resume(asker, kept?.file ?? "", { turnId: "t9" as TurnId, at: 1 });
  await store.conversations.resumedBy(sessionKey("a"), "t9" as TurnId);
  await store.inbox.accept(row("in2", "a"));
  await store.turns.begin(turn("t2", "a", ["in2"]));
  await store.sessions.reset(sessionKey("a"), 2);
  await store.turns.finish(end("t2"));
  await store.roleGrants.put({ principal: OPERATOR, role: "owner", grantedBy: OPERATOR, at: 1 });
  await store.roleGrants.list();
  await store.roleGrants.remove(OPERATOR, OPERATOR);
  await jobStatements(store.jobs);
  await store.runSessions.drop({ before: 1, keepPerJob: 2, limit: 5, from: null });
  await store.runSessions.deadFiles(5);
  await store.runSessions.fileGone("x.jsonl");
  await store.webhookMarks.admit(marked());
  await store.webhookMarks.stored("hook_1");
  const stranger = { channel: "c", account: "a", principal: OPERATOR, name: "n", createdAt: 1, expiresAt: 2 };
  await store.pairings.put({ ...stranger, id: "p1", digest: "d", state: "pending", decidedAt: null, decidedBy: null });
  await store.pairings.list();
  await store.channelState.put("c", "a", "k", "v");
  await store.channelState.get("c", "a", "k");
  await store.channelState.list("c", "a", "k");
  await store.channelState.forget("c", "a", "k");
  await store.transcriptions.put("d", "w", 1);
  await store.transcriptions.find("d");
  await store.media.bytesSince(OPERATOR, 1);
  await store.media.list(OPERATOR, 1);
  await store.sessionTools.save(sessionKey("a"), { on: [{ tool: "x", position: 1, at: 1 }], off: ["x"] });
  await store.sessionTools.list(sessionKey("a"));
  await store.sessionTools.prune(1);
  await store.conversationFiles.isReceived(sessionKey("a"), "m1" as MediaId);
  await store.conversationFiles.ranToolAt(sessionKey("a"), 1_000);
  await store.sessions.transcript(sessionKey("a"), { limit: 10 });
  await store.sessions.mark(sessionKey("a"), { pinned: true }, 1);
  await store.sessions.waiting(sessionKey("a"));
  await store.sessions.searchMessages({ words: "x", session: sessionKey("a"), channel: "api" }, { limit: 5 });
  const cursor = Buffer.from('[5,"k"]').toString("base64url");
  for (const filter of [{}, { channel: "webchat" }, { search: "x" }])
    for (const page of [{ limit: 10 }, { limit: 10, cursor }]) await store.sessions.list(filter, page);
  const mediaId = "media_1" as MediaId;
  await store.media.put({ mediaId, owner: OPERATOR, name: "n", mimeType: "t", data: new Uint8Array(), at: 1 });
  await store.signIns.put({
    digest: "d",
    principal: OPERATOR,
    createdAt: 1,
    expiresAt: 2,
    authDigest: "a",
    browser: null,
  });
  await store.signIns.find("d");
  await store.signIns.remove("d");
  const askedBy = { turnId: "t1" as TurnId, callId: "c" };
  const owned = { id: "n1", owner: OPERATOR, title: "t", askedBy, at: 1 };
  await store.notes.save({ ...owned, content: "x", tags: [] });
  await store.notes.list(OPERATOR, 1);
  await store.notes.get(OPERATOR, owned.id);
  await store.notes.search(OPERATOR, "nothing", 5);
  await store.tasks.add({ ...owned, dueDate: null, priority: "low" });
  await store.tasks.list(OPERATOR, "all", 5);
  await store.tasks.change(OPERATOR, "n1", { title: "u" }, 1);
  await store.approvals.put(question("ap1"));
  await store.approvals.grantedBy(sessionKey("a"), "echo");
  await store.approvals.end("ap1", { decision: "session", by: OPERATOR, at: 2 });
  await store.approvals.ended({ limit: 5 });
  await store.approvals.prune(1);
  await store.approvals.put(question("ap2"));
  await store.approvals.endWithRule("ap2", storedRule("r1"), 9);
  await store.approvalRules.of({ tool: "bash", agentId: AGENT, principal: OPERATOR }, 1);
  await store.approvalRules.use("r1", { at: 1, callId: "c", callHash: "h", sessionKey: sessionKey("a") });
  await store.approvalRules.list(1, { limit: 5 });
  await store.approvalRules.remove("r1", OPERATOR, 1);
  await store.approvalRules.prune(1);
  const days = { from: "2026-01-01", to: "2026-01-31" };
  for (const by of USAGE_BY) await store.usage.report({ ...days, by }, { limit: 5 });
  await store.usage.sums({ ...days, by: "agent" });
  await store.usage.record(spent("u1"));
  await store.usage.prune("2020-01-01");
  await store.responses.put(storedResponse("r1"), KEEPS_ALL);
  await store.responses.find("r1", OPERATOR);
  await store.responses.chain("r1", OPERATOR, { maxResponses: 9, maxChars: 9 });
  await store.responses.open();
  await store.responses.prune(1_000_000);
  await store.responses.put(storedResponse("r2"), { maxResponses: 1, maxChars: 1 });
  await store.responses.remove("r1", OPERATOR);
  await store.idempotentAnswers.claim(keyed("i1"));
  await store.idempotentAnswers.keep(keyed("i1"), {});
  await store.idempotentAnswers.drop(keyed("i1"));
  await store.idempotentAnswers.prune(1_000_000);
  await store.apiKeys.put(storedKey("k1"));
  await store.apiKeys.list();
  await store.apiKeys.touch("k1", 1);
  await store.apiKeys.remove("k1", OPERATOR);
  await store.pushSubscriptions.put(newSubscription("s1"), 9);
  await store.pushSubscriptions.put(newSubscription("s1", { auth: "another" }), 9);
  await store.pushSubscriptions.list();
  await store.pushSubscriptions.find("s1");
  await store.pushSubscriptions.note("s1", { at: 1, problem: null });
  await store.pushSubscriptions.remove("s1", OPERATOR);
  const unused = { key: sessionKey("new"), channel: "webchat", agentId: AGENT, person: OPERATOR, at: 1 };
  await store.sessions.open(unused);
  for (const id of ["in1", "t1:0", "c1", "none"]) await store.sessions.branches.place(sessionKey("a"), id);
  const branched = { from: sessionKey("a"), turnId: "t1" as TurnId, title: "x", file: null };
  await store.sessions.branches.branch({ ...branched, ...unused, key: sessionKey("branch") });
  await store.sessions.transcript(sessionKey("branch"), { limit: 10 });
  await store.sessions.branches.rewind(sessionKey("branch"), { turnId: "t1" as TurnId, file: null, at: 2 });
  await store.sessions.remove(sessionKey("a"));
  await store[Symbol.asyncDispose]();
  return texts.filter((text) => /^(select|insert|update|delete|replace)/.test(text));
}

async function jobStatements(jobs: JobStore): Promise<void> {
  await jobs.add(job());
  await jobs.change(job(), 1);
  await jobs.get("water");
  for (const filter of [
    {},
    { source: "person" },
    { createdBy: OPERATOR },
    { failing: true },
    { planned: true },
  ] as const)
    await jobs.list(filter, { limit: 5 });
  await jobs.count({ createdBy: OPERATOR, source: "person" });
  await jobs.nextDueAt();
  await jobs.due(1, 10);
  await jobs.inOtherZone("UTC", 10);
  await jobs.moveSlots([
    { jobId: "water", seenRevision: 1, seenNextAt: 600_000, nextAt: 700_000, slotZone: "Europe/Berlin" },
  ]);
  const rows = [{ id: "r1", slot: 600_000, status: "running", reason: null }] as const;
  const fire = {
    jobId: "water",
    seenRevision: 2,
    seenNextAt: 600_000,
    rows,
    nextAt: null,
    state: "active",
    at: 1,
  } as const;
  await jobs.fire([fire]);
  await jobs.busy("water");
  await jobs.freed();
  await jobs.running();
  await jobs.addManualRun({ id: "r2", jobId: "water", slot: 5 });
  const after = { failures: 0, state: "active", because: null } as const;
  const ended = {
    status: "ran",
    reason: null,
    ms: 1,
    turnId: null,
    retryAt: null,
    seen: { ...after, revision: 2, nextAt: null },
    job: after,
    remove: false,
    alert: "failing",
    at: 1,
  } as const;
  await jobs.end("r1", ended);
  await jobs.alerts(5);
  await jobs.alertTold("r1-1");
  await jobs.end("r2", { ...ended, remove: true });
  await jobs.begin("r1", "failed", 1);
  await jobs.retries(1, 10);
  await jobs.runs("water", { limit: 5 });
  await jobs.prune({ before: 1, keepPerJob: 1, from: null });
  await jobs.remove("water");
}

function planOf(db: Database, text: string): readonly string[] {
  const statement = db.prepare(`explain query plan ${text}`);
  const none = Array.from({ length: statement.paramsCount }, () => null);
  return statement.values(...none).map((step) => String(step[3]));
}

test("every statement finds its rows by an index, and none sorts more than the messages that wait", async () => {
  using db = new Database(":memory:");
  migrate(db, 0);
  const texts = await statementsUsed(db);
  const sortsWaiting = (text: string) => /order by \+"inbox"\."seq"|"overflow" = 2 group by/.test(text); // at the start only
  const addsUp = (text: string) => text.includes('sum("cost_usd")') && !text.includes('from "turns"'); // one row per conversation, when a person asks
  const searches = (text: string) => text.includes("search_text like"); // in a thread of its own: it passes all rows either way
  const costly = texts
    .filter((text) => !addsUp(text) && !searches(text))
    .flatMap((text) =>
      planOf(db, text)
        // walking an index in the order that is asked for is the point of it; a scan without one, or a sort, is not
        .filter(
          (step) =>
            (step.startsWith("SCAN") &&
              !/USING (COVERING )?INDEX|VIRTUAL TABLE INDEX|CONSTANT ROW|-ROW VALUES CLAUSE/.test(step)) ||
            (/USE TEMP B-TREE/.test(step) && !sortsWaiting(text)),
        )
        .map((step) => `${step}: ${text}`),
    );
  expect(texts.length).toBeGreaterThan(35);
  expect(costly).toEqual([]);
});

test("responses that were begun are found among many that have ended without walking those", async () => {
  using db = new Database(":memory:");
  migrate(db, 0);
  const [open = ""] = (await statementsUsed(db)).filter((text) => /from "responses" where "ended"/.test(text));
  expect(planOf(db, open)).toEqual(["SCAN responses USING INDEX responses_open"]);
});

test("usage is found by day, however many days there are", async () => {
  using db = new Database(":memory:");
  migrate(db, 0);
  const about = (await statementsUsed(db)).filter((text) => /from "usage/.test(text));
  const steps = about.flatMap((text) => planOf(db, text)).filter((step) => !step.startsWith("USE TEMP B-TREE"));
  expect(new Set(steps)).toEqual(
    new Set([
      "SEARCH usage USING PRIMARY KEY (day<?)",
      "SEARCH usage_days USING PRIMARY KEY (what=? AND day<?)",
      "SEARCH usage_days USING PRIMARY KEY (what=? AND day>? AND day<?)",
    ]),
  );
});

test("turns that failed or were stopped are found among many others without walking those", async () => {
  using db = new Database(":memory:");
  migrate(db, 0);
  const lists = (await statementsUsed(db)).filter((text) => /"state" = '(failed|aborted)'/.test(text));
  const ofAll = lists.filter((text) => !text.includes('"session_key" ='));
  expect(ofAll.map((text) => planOf(db, text))).toEqual([
    ["SEARCH turns USING INDEX turns_failed (seq<?)"],
    ["SEARCH turns USING INDEX turns_aborted (seq<?)"],
  ]);
});

test("messages of an account are walked for the newest of them, and by no other question about a channel", async () => {
  using db = new Database(":memory:");
  migrate(db, 0);
  const walking = (await statementsUsed(db)).filter((text) =>
    planOf(db, text).some((step) => step.includes("by_account")),
  );
  expect(walking.length).toBe(2);
  expect(walking.filter((text) => !text.includes("(channel || '/' || account)"))).toEqual([]);
});
