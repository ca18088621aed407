/** What every store promises about numbers: they are numbers when they come back, up to the largest whole number there is, and prices to the last digit. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InboxId, MediaId, Principal, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { job } from "../../automation/job-fixture.ts";
import { storedKey } from "./api-key-contract.ts";
import { newSubscription } from "./push-subscription-contract.ts";
import { question } from "./approval-contract.ts";
import { KEEPS_ALL, storedResponse } from "./response-contract.ts";
import { end, intent, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";
import { spent } from "./usage-contract.ts";

const MOST = Number.MAX_SAFE_INTEGER;

/** Writes the number wherever it belongs, and gives what is read, under the same names. */
type Field = (store: Store, most: number) => Promise<Readonly<Record<string, unknown>>>;

const FIELDS: Readonly<Record<string, Field>> = {
  messages: async ({ inbox, sessionChats }, most) => {
    await inbox.accept(row("in-m", "m", { receivedAt: most }));
    const [first] = await inbox.unfinished();
    return { receivedAt: first?.message.receivedAt, heardAt: (await sessionChats.of(sessionKey("m")))?.heardAt };
  },
  turns: async ({ inbox, turns, sessions, outbox }, most) => {
    await inbox.accept(row("in-t", "t"));
    await turns.begin(turn("t-t", "t", ["in-t"], most));
    const usage = { inputTokens: most, outputTokens: most, costUsd: 0.1 };
    await turns.finish(
      end("t-t", { usage, settledBytes: most, at: most, spans: [{ name: "x", startMs: most, ms: 1 }] }),
    );
    await inbox.accept(row("in-t2", "t", { receivedAt: 1 }));
    const trace = await turns.get("t-t" as TurnId);
    const session = await sessions.get(sessionKey("t"));
    return {
      begunAt: trace?.turn.begunAt,
      endedAt: trace?.turn.endedAt,
      span: trace?.spans[0]?.startMs,
      inputTokens: (await turns.resultOf("in-t" as InboxId))?.usage.inputTokens,
      ofSession: session?.usage.outputTokens,
      lastActivityAt: session?.lastActivityAt,
      settledBytes: (await turns.begin(turn("t-t2", "t", ["in-t2"]))).sessionFile.settledBytes,
      createdAt: (await outbox.part("t-t:0"))?.createdAt,
    };
  },
  outbox: async ({ inbox, turns, outbox }, most) => {
    await inbox.accept(row("in-o", "o"));
    await turns.begin(turn("t-o", "o", ["in-o"]));
    await turns.finish(end("t-o"));
    const counts = { attempts: 1, lost: 0, delivered: 0, doubt: false };
    expect(await outbox.markSending("t-o:0", { ...counts, at: 1, claimedUntil: most })).toBe(true);
    await outbox.markWaiting("t-o:0", { ...counts, firstTriedAt: most, nextTryAt: most, because: "503" });
    const part = (await outbox.pending(50)).find(({ id }) => id === "t-o:0");
    await outbox.settle("t-o:0", { state: "dead", because: "gone" }, most);
    const [endedAt] = await outbox.endsSince("dead", most - 1, 1);
    return { firstTriedAt: part?.firstTriedAt, nextTryAt: part?.nextTryAt, endedAt };
  },
  "tool calls": async ({ toolCalls }, most) => {
    await toolCalls.intend({ ...intent("c-n", "t-n", true), at: most });
    await toolCalls.settle("c-n", { status: "success", output: "", ms: most });
    const [call] = (await toolCalls.list({}, { limit: 1 })).items;
    const [since] = await toolCalls.timesSince({ principal: OPERATOR, tool: "echo" }, most - 1);
    return { executionTimeMs: call?.executionTimeMs, createdAt: call?.createdAt, since };
  },
  jobs: async ({ jobs }, most) => {
    const big = { nextAt: most, createdAt: most, anchorAt: most, timeoutMs: most, revision: most, failures: 3 };
    await jobs.add(job({ id: "n", ...big }));
    await jobs.addManualRun({ id: "run-n", jobId: "n", slot: most });
    const { failures: _, ...read } = (await jobs.get("n")) ?? job();
    const { nextAt, createdAt, anchorAt, timeoutMs, revision } = read;
    return {
      nextAt,
      createdAt,
      anchorAt,
      timeoutMs,
      revision,
      slot: (await jobs.run("run-n"))?.slot,
      due: await jobs.nextDueAt(),
    };
  },
  usage: async ({ usage }, most) => {
    const owner = "key:user:n" as Principal;
    const made = spent("n", {
      principal: owner,
      usage: { inputTokens: most, outputTokens: most, cachedTokens: most, costUsd: 1 },
    });
    await usage.record(made);
    const sums = await usage.sums({ from: made.day, to: made.day, by: "principal" });
    const { inputTokens, outputTokens, cachedTokens } = sums.find(({ key }) => key === owner) ?? {};
    return { inputTokens, outputTokens, cachedTokens };
  },
  "the small tables": async (
    { media, notes, responses, apiKeys, approvals, pushSubscriptions, roleGrants, sessionTools, signIns },
    most,
  ) => {
    const owner = "n:owner" as Principal;
    await media.put({
      mediaId: "media_n" as MediaId,
      owner,
      name: "n",
      mimeType: "t",
      data: new Uint8Array(3),
      at: most,
    });
    await notes.save({
      id: "n",
      owner,
      title: "n",
      content: "n",
      tags: [],
      askedBy: { turnId: "n" as TurnId, callId: "n" },
      at: most,
    });
    await responses.put(storedResponse("n", { createdAt: most }), KEEPS_ALL);
    await apiKeys.put(storedKey("n", { expiresAt: most, createdAt: most, dailyTokens: most }));
    await approvals.put(question("n", { askedAt: most, expiresAt: most }));
    await approvals.end("n", { decision: "once", by: OPERATOR, at: most });
    await roleGrants.put({ principal: owner, role: "member", grantedBy: OPERATOR, at: most });
    await sessionTools.save(sessionKey("n"), { on: [{ tool: "n", position: 1, at: most }], off: [] });
    await signIns.put({ digest: "n", principal: owner, createdAt: 1, expiresAt: most, authDigest: "n", browser: null });
    await pushSubscriptions.put(newSubscription("n", { createdAt: most }), 1_000);
    await pushSubscriptions.note("n", { at: most, problem: null });
    const [key] = (await apiKeys.list()).filter(({ id }) => id === "n");
    return {
      note: (await notes.get(owner, "n"))?.createdAt,
      response: (await responses.find("n", OPERATOR))?.createdAt,
      keyExpiresAt: key?.expiresAt,
      notifiedSince: (await pushSubscriptions.find("n"))?.createdAt,
      notifiedAt: (await pushSubscriptions.find("n"))?.sentAt,
      dailyTokens: key?.dailyTokens,
      approval: (await approvals.ended({ limit: 1 })).items[0]?.decidedAt,
      grant: (await roleGrants.list()).find(({ principal }) => principal === owner)?.at,
      tool: (await sessionTools.list(sessionKey("n")))[0]?.at,
      signIn: (await signIns.find("n"))?.expiresAt,
    };
  },
};

export function numberPromises(open: () => Promise<StoreWorld>): void {
  describe("numbers", () => {
    let world: StoreWorld;
    beforeAll(async () => void (world = await open()));
    afterAll(() => world[Symbol.asyncDispose]());

    test.each(Object.entries(FIELDS))("%s: the largest whole number comes back", async (_, field) => {
      const read = await field(world.store, MOST);
      expect(read).toEqual(Object.fromEntries(Object.keys(read).map((name) => [name, MOST])));
    });

    test.each([0.1 + 0.2, 1e-9, 12_345.678_901_234_5, 0])(
      "a turn that cost %d costs exactly that in every list",
      async (costUsd) => {
        const { inbox, turns, sessions, usage } = world.store;
        const id = `cost${costUsd}`;
        await inbox.accept(row(`in-${id}`, id));
        await turns.begin(turn(`t-${id}`, id, [`in-${id}`]));
        const used = { inputTokens: 1, outputTokens: 1, costUsd };
        const agentId = id as ReturnType<typeof spent>["agentId"];
        await turns.finish(end(`t-${id}`, { usage: used, spent: spent(`t-${id}`, { agentId, usage: used }) }));
        const sums = await usage.sums({ from: "2026-01-10", to: "2026-01-10", by: "agent" });
        expect([
          (await turns.resultOf(`in-${id}` as InboxId))?.usage.costUsd,
          (await sessions.get(sessionKey(id)))?.usage.costUsd,
          sums.find(({ key }) => key === id)?.costUsd,
        ]).toEqual([costUsd, costUsd, costUsd]);
      },
    );
  });
}
