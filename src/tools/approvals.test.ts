/** The owner's word: asked for once, given once, in time, and never guessed. On a real store. */
import { describe, expect, test } from "bun:test";
import type { GatewayEvents } from "../contracts/events.ts";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import type { ApprovalStore } from "../contracts/store/approvals.ts";
import type { ApprovalQuestion } from "../contracts/tools/approval.ts";
import { createEvents } from "../observe/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { OWNER, SESSION } from "../testing/tools/tool-world.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { createApprovalRules } from "./rules/approval-rules.ts";
import { createApprovals, MAX_OPEN, MAX_OPEN_PER_SESSION } from "./approvals.ts";

const WAIT_MS = 600_000;
const ANNA = "telegram:user:1" as Principal;
const NEVER = new AbortController().signal;

function question(more: Partial<ApprovalQuestion> = {}): ApprovalQuestion {
  const { stats: _stats, ...caller } = OWNER;
  return {
    tool: "bash",
    callId: "c1",
    caller,
    because: "it may do anything",
    shown: { command: "ls" },
    hash: "h1",
    ...more,
  };
}

async function world(over: (store: ApprovalStore) => Partial<ApprovalStore> = () => ({})) {
  const clock = createFakeClock();
  const log = recordingLog();
  const events = createEvents({ log });
  const real = await realStore(clock);
  const told: GatewayEvents["approval"][] = [];
  events.on("approval", (news) => void told.push(news));
  const { approvals: rows } = real.store;
  const store = { ...rows, ...over(rows) };
  /** Who is an owner now, and by how much the wall clock is ahead of timers: a machine that slept. */
  const now = { owners: [ANNA] as readonly Principal[], sleptMs: 0, waitMs: WAIT_MS };
  const judgedAt: unknown[] = [];
  const wall = { ...clock, now: () => clock.now() + now.sleptMs };
  const approvals = createApprovals(
    {
      log,
      events,
      store,
      clock: wall,
      ids: createSeqIds(),
      rules: createApprovalRules({ clock: wall, log, events, store: real.store.approvalRules }),
      mayDecide: async (by, chat) => (judgedAt.push(chat), now.owners.includes(by)),
    },
    () => ({ waitMs: now.waitMs }),
  );
  /** Asks, and resolves when the question is open. */
  const asked = async (more: Partial<ApprovalQuestion> = {}, signal: AbortSignal = NEVER) => {
    const answer = waitForEnd("the end of the question", approvals.ask(question(more), signal));
    answer.catch(() => undefined); // a question that a test leaves open fails nothing
    await clock.advance(0);
    return { answer, id: approvals.pending().at(-1)?.id ?? "" };
  };
  const ended = async () => (await rows.ended({ limit: 200 })).items;
  /** Fails by name when nobody answers. */
  const ask = (...given: Parameters<typeof approvals.ask>) => waitForEnd("the answer", approvals.ask(...given));
  return {
    clock,
    ask,
    now,
    judgedAt,
    log,
    real,
    told,
    approvals,
    asked,
    ended,
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

describe("a question", () => {
  test("is shown whole with who asks and until when, and is stored with the hash of the call", async () => {
    await using at = await world();
    const { answer, id } = await at.asked();
    const shown = {
      id,
      tool: "bash",
      callId: "c1",
      because: "it may do anything",
      input: { command: "ls" },
      shown: '{\n  "command": "ls"\n}',
      sessionKey: SESSION,
      turnId: OWNER.turnId,
      principal: OWNER.principal,
      origin: OWNER.origin,
      askedAt: at.clock.now(),
      expiresAt: at.clock.now() + WAIT_MS,
    };
    expect(at.approvals.pending()).toEqual([shown]);
    expect(at.told).toEqual([{ ...shown, decision: null }]);
    expect(await at.approvals.decide(id, "once", ANNA)).toBe("done");
    expect(await answer).toBe("once");
    const { input: _input, shown: _shown, ...known } = shown;
    expect(at.told.at(-1)).toEqual({ ...known, decision: "once", by: ANNA });
    expect(at.approvals.pending()).toEqual([]);
    expect(await at.ended()).toMatchObject([{ id, hash: "h1", decision: "once", decidedBy: ANNA, role: "owner" }]);
  });

  test("decided in a notification says so in the audit log, and needs an owner of everywhere", async () => {
    await using at = await world();
    const { answer, id } = await at.asked();
    expect(await at.approvals.decide(id, "deny", "telegram:user:9" as Principal, "notification")).toBe("not_allowed");
    expect(await at.approvals.decide(id, "deny", ANNA, "notification")).toBe("done");
    expect([await answer, at.judgedAt]).toEqual(["deny", [null, null]]);
    const { items } = await at.real.store.audit.list({ limit: 1 }, "approval.ended");
    expect(items).toMatchObject([{ actor: ANNA, subject: id, detail: { decision: "deny", via: "notification" } }]);
  });

  test.each(["once", "session", "deny"] as const)("takes %s as an answer one time only", async (decision) => {
    await using at = await world();
    const { answer, id } = await at.asked();
    const both = await Promise.all([at.approvals.decide(id, decision, ANNA), at.approvals.decide(id, "once", ANNA)]);
    expect([both, await answer]).toEqual([["done", "unknown"], decision]);
    expect(await at.approvals.decide(id, "once", ANNA)).toBe("unknown");
    expect(at.told).toHaveLength(2);
  });

  test("that nobody answers in time is expired, and an answer that comes later changes nothing", async () => {
    await using at = await world();
    const { answer, id } = await at.asked();
    await at.clock.advance(WAIT_MS - 1);
    expect(at.approvals.pending()).toHaveLength(1);
    await at.clock.advance(1);
    expect(await answer).toBe("expired");
    expect(await at.approvals.decide(id, "session", ANNA)).toBe("unknown");
    expect(await at.ask(question(), AbortSignal.abort())).toBe("expired"); // nothing was allowed for the session
    expect(await at.ended()).toMatchObject([{ decision: "expired", decidedBy: null }]);
  });

  test.each(["once", "session", "deny"] as const)(
    "that expired while the machine slept cannot be answered with %s, although no timer has fired",
    async (decision) => {
      await using at = await world();
      const { answer, id } = await at.asked();
      at.now.sleptMs = WAIT_MS; // the wall clock went on, timers stood still
      expect(await at.approvals.decide(id, decision, ANNA)).toBe("unknown");
      expect(at.approvals.pending()).toEqual([]); // whoever was told so finds it gone
      expect(await answer).toBe("expired");
      expect(at.told.at(-1)).toMatchObject({ say: expect.stringContaining("nobody answered within") });
      expect(await at.ended()).toMatchObject([{ decision: "expired", decidedBy: null }]);
    },
  );

  test("that nobody answers says how long it waited and what to do, and one whose turn ended says that", async () => {
    await using at = await world();
    const { answer } = await at.asked();
    await at.clock.advance(WAIT_MS);
    await answer;
    expect(at.told.at(-1)).toMatchObject({
      decision: "expired",
      say: expect.stringMatching(
        /was not run: nobody answered within \d+ \w+s?\. If it is still wanted, ask the assistant again/,
      ),
    });
    const turn = new AbortController();
    const next = at.ask(question(), turn.signal);
    await waitFor("the question", () => at.approvals.pending().length === 1);
    turn.abort(new Error("stopped"));
    await next;
    expect(at.told.at(-1)).toMatchObject({ say: expect.stringContaining("its turn ended before anybody answered") });
  });

  test("says why it is asked with every invisible character written out", async () => {
    await using at = await world();
    await at.asked({ because: "a plugin wants \u202eit" });
    expect(at.approvals.pending()[0]?.because).not.toContain("\u202e");
    expect(at.approvals.pending()[0]?.because).toStartWith("a plugin wants ");
  });

  test("waits for as long as the settings say when it is asked", async () => {
    await using at = await world();
    await at.asked();
    at.now.waitMs = 5_000;
    const { answer } = await at.asked({ callId: "c2" });
    expect(at.approvals.pending().map(({ askedAt, expiresAt }) => expiresAt - askedAt)).toEqual([WAIT_MS, 5_000]);
    await at.clock.advance(5_000);
    expect([await answer, at.approvals.pending().length]).toEqual(["expired", 1]);
  });

  test("whose wall clock was set back expires by its timer", async () => {
    await using at = await world();
    const { answer } = await at.asked();
    at.now.sleptMs = -10 * WAIT_MS;
    await at.clock.advance(WAIT_MS);
    expect(await answer).toBe("expired");
  });

  test("is decided by owners of now: one who lost the role is refused, and the question stays open", async () => {
    await using at = await world();
    const { answer, id } = await at.asked();
    at.now.owners = [];
    for (const decision of ["once", "session", "deny"] as const)
      expect(await at.approvals.decide(id, decision, ANNA)).toBe("not_allowed");
    expect(at.approvals.pending()).toHaveLength(1);
    at.now.owners = [ANNA];
    expect(await at.approvals.decide(id, "once", ANNA)).toBe("done");
    expect(await answer).toBe("once");
  });

  test("whose turn ends while it is being stored is expired at once", async () => {
    const disk = Promise.withResolvers<void>();
    await using at = await world((rows) => ({ put: async (row) => (await disk.promise, rows.put(row)) }));
    const turn = new AbortController();
    const { answer } = await at.asked({}, turn.signal);
    turn.abort(new Error("stopped"));
    disk.resolve();
    expect(await answer).toBe("expired");
    expect([at.approvals.pending(), at.clock.pending()]).toEqual([[], 0]);
  });

  test("that was answered is not ended a second time when its turn ends", async () => {
    const ends: string[] = [];
    await using at = await world((rows) => ({ end: (id, end) => (ends.push(end.decision), rows.end(id, end)) }));
    const turn = new AbortController();
    const { answer, id } = await at.asked({}, turn.signal);
    await at.approvals.decide(id, "once", ANNA);
    expect(await answer).toBe("once");
    turn.abort(new Error("stopped"));
    await at.clock.advance(WAIT_MS);
    expect(ends).toEqual(["once"]);
  });

  test("whose end cannot be stored ends all the same, and the log says why", async () => {
    await using at = await world(() => ({ end: () => Promise.reject(new Error("disk full")) }));
    const { answer } = await at.asked();
    await at.clock.advance(WAIT_MS);
    expect(await answer).toBe("expired");
    expect(at.log.lines.map(({ words }) => words)).toContain("end of an approval could not be recorded");
  });

  test("ends when its turn does", async () => {
    await using at = await world();
    const turn = new AbortController();
    const { answer } = await at.asked({}, turn.signal);
    turn.abort();
    expect(await answer).toBe("expired");
    expect(at.told.at(-1)).toMatchObject({ decision: "expired", by: null });
    expect([at.approvals.pending(), at.clock.pending()]).toEqual([[], 0]);
  });

  test("that cannot be stored is not asked, and one whose end cannot be stored still ends", async () => {
    const broken = () => Promise.reject(new Error("disk full"));
    await using at = await world(() => ({ put: broken }));
    await expect(waitForEnd("the answer", at.approvals.ask(question(), NEVER))).rejects.toThrow("disk full");
    expect([at.told, at.approvals.pending()]).toEqual([[], []]);
    await using other = await world(() => ({ end: broken }));
    const { answer, id } = await other.asked();
    await expect(other.approvals.decide(id, "once", ANNA)).rejects.toThrow("disk full");
    expect(other.approvals.pending()).toHaveLength(1); // a yes that is not on record is no yes
    await other.clock.advance(WAIT_MS);
    expect(await answer).toBe("expired");
  });

  test("is listed when it is stored, and not before: a crash loses nothing that anybody saw", async () => {
    const disk = Promise.withResolvers<void>();
    await using at = await world((rows) => ({ put: async (row) => (await disk.promise, rows.put(row)) }));
    const { answer } = await at.asked();
    expect([at.approvals.pending(), at.told]).toEqual([[], []]);
    disk.resolve();
    await waitFor("the question", () => at.approvals.pending().length === 1);
    await at.clock.advance(WAIT_MS);
    expect(await answer).toBe("expired");
  });

  test("says nothing of what is asked in the log", async () => {
    await using at = await world();
    const { answer, id } = await at.asked({ shown: { command: "a-private-command" } });
    await at.approvals.decide(id, "deny", ANNA);
    await answer;
    expect(JSON.stringify(at.log.lines)).not.toContain("a-private-command");
  });
});

describe("a yes for the session", () => {
  test("holds for that tool in that session, also after a crash, and until the conversation is begun anew", async () => {
    await using at = await world();
    const { answer, id } = await at.asked();
    await at.approvals.decide(id, "session", ANNA);
    expect(await answer).toBe("session");
    expect(await at.ask(question({ callId: "c2", hash: "h2" }), NEVER)).toBe("session");
    expect(at.told).toHaveLength(2);
    const { caller } = question();
    const elsewhere = { ...caller, sessionKey: "agent:default:webchat:dm:2" as SessionKey };
    for (const more of [{ tool: "write" }, { caller: elsewhere }]) {
      const other = await at.asked(more);
      expect(other.id).not.toBe("");
      await at.approvals.decide(other.id, "deny", ANNA);
      expect(await other.answer).toBe("deny");
    }
    const { approvals } = await at.real.reopen();
    expect(await approvals.grantedBy(SESSION, "bash")).toBe(ANNA);
  });

  test("to a change of one folder holds for this tool in this folder alone, also after a crash", async () => {
    await using at = await world();
    const papers = { tool: "write", covers: "write /papers" };
    const { answer, id } = await at.asked(papers);
    await at.approvals.decide(id, "session", ANNA);
    expect(await answer).toBe("session");
    expect(await at.ask(question({ ...papers, callId: "c2", hash: "h2" }), NEVER)).toBe("session");
    for (const covers of ["write /letters", "edit /papers", undefined]) {
      const other = await at.asked({ tool: "write", ...(covers === undefined ? {} : { covers }) });
      expect([covers, other.id]).not.toEqual([covers, ""]);
      await at.approvals.decide(other.id, "deny", ANNA);
      expect(await other.answer).toBe("deny");
    }
    expect((await at.ended()).map(({ tool }) => tool)).toEqual(["write", "write", "write", "write"]);
    const { approvals } = await at.real.reopen();
    expect(await approvals.grantedBy(SESSION, "write /papers")).toBe(ANNA);
    expect(await approvals.grantedBy(SESSION, "write")).toBeNull();
  });

  test("is no yes for a tool that has become another one since", async () => {
    await using at = await world();
    const { answer, id } = await at.asked();
    await at.approvals.decide(id, "session", ANNA);
    await answer;
    const again = await at.asked({ callId: "c2", hash: "h2", anew: true });
    expect(at.approvals.pending()).toHaveLength(1);
    await at.approvals.decide(again.id, "deny", ANNA);
    expect(await again.answer).toBe("deny");
  });

  test("is no yes for a session in which nobody gave one, whoever may decide", async () => {
    await using at = await world();
    at.now.owners = [ANNA, null as unknown as Principal]; // a check of rights that knows no better
    const { answer, id } = await at.asked();
    expect(at.approvals.pending()).toHaveLength(1);
    await at.approvals.decide(id, "deny", ANNA);
    expect(await answer).toBe("deny");
  });

  test("lapses when the owner who gave it is no owner any more: the next call asks again", async () => {
    await using at = await world();
    const { answer, id } = await at.asked();
    await at.approvals.decide(id, "session", ANNA);
    await answer;
    at.now.owners = [];
    const again = await at.asked({ callId: "c2", hash: "h2" });
    expect(at.approvals.pending()).toHaveLength(1);
    await at.clock.advance(WAIT_MS);
    expect(await again.answer).toBe("expired");
  });

  test("leaves other open questions to be answered one by one", async () => {
    await using at = await world();
    const first = await at.asked();
    const second = await at.asked({ callId: "c2", shown: { command: "rm -r ." } });
    await at.approvals.decide(first.id, "session", ANNA);
    await first.answer;
    expect(at.approvals.pending().map(({ id }) => id)).toEqual([second.id]);
    await at.approvals.decide(second.id, "deny", ANNA);
    expect(await second.answer).toBe("deny");
  });
});

describe("too many open questions", () => {
  test("of one session are not asked; other sessions are", async () => {
    await using at = await world();
    for (let n = 0; n < MAX_OPEN_PER_SESSION; n++) await at.asked();
    const oneMore = waitForEnd("the answer to one question too many", at.approvals.ask(question(), NEVER));
    expect(await oneMore).toBe("full");
    const caller = { ...question().caller, sessionKey: "agent:default:webchat:dm:2" as SessionKey };
    await at.asked({ caller });
    expect(at.approvals.pending()).toHaveLength(MAX_OPEN_PER_SESSION + 1);
  });

  test("that could not be stored are not counted", async () => {
    let disk: "full" | "free" = "full";
    await using at = await world((rows) => ({
      put: async (row) => (disk === "full" ? Promise.reject(new Error("disk full")) : rows.put(row)),
    }));
    for (let n = 0; n < MAX_OPEN_PER_SESSION; n++) await expect(at.ask(question(), NEVER)).rejects.toThrow("disk full");
    disk = "free";
    const { answer, id } = await at.asked();
    expect(await at.approvals.decide(id, "once", ANNA)).toBe("done");
    expect(await answer).toBe("once");
  });

  test("in all are not asked, also when they come at the same moment", async () => {
    await using at = await world();
    const callers = Array.from({ length: MAX_OPEN + 5 }, (_, n) => ({
      ...question().caller,
      sessionKey: `agent:default:webchat:dm:${n}` as SessionKey,
    }));
    const answers = callers.map((caller) => at.approvals.ask(question({ caller }), NEVER));
    await at.clock.advance(WAIT_MS);
    const said = await Promise.all(answers);
    expect(said.filter((answer) => answer === "full")).toHaveLength(5);
    expect(said.filter((answer) => answer === "expired")).toHaveLength(MAX_OPEN);
  });
});

test("an answer from a notification is judged without a chat and stored as one, and no other answer is", async () => {
  const ends: unknown[] = [];
  await using at = await world((rows) => ({
    end(id, end) {
      ends.push(end);
      return rows.end(id, end);
    },
  }));
  const chat = { address: { channel: "telegram", account: "default", chat: "1" }, scope: "dm" } as const;
  for (const from of ["notification", chat, undefined] as const) {
    const { id, answer } = await at.asked({ callId: `c ${String(from)}` });
    expect(await at.approvals.decide(id, "once", ANNA, from)).toBe("done");
    expect(await answer).toBe("once");
  }
  const end = { decision: "once", by: ANNA, at: at.clock.now(), covers: "bash" };
  expect(ends).toEqual([{ ...end, via: "notification" }, end, end]);
  expect(at.judgedAt).toEqual([null, chat, null]);
});
