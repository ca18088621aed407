/** What one person's session leaves for another: nothing but the working folder. Real pi; the provider's requests are the proof. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LeaseRequest } from "../contracts/agent.ts";
import { type AgentFixture, agentFixture, caller, collect, providers, replyOf } from "../testing/agent-fixture.ts";
import { says, startFakeProvider } from "../testing/fake-provider.ts";
import { writePiWithChild } from "../testing/scripted-agent.ts";
import { identify, rssBytes } from "./process/proc.ts";

const LIMIT_MS = 40_000;
const CANARY = "canary-5b1e77";

const ann = { caller: caller("web:user:ann"), sessionFile: "session-ann.jsonl" };
const bob = { caller: caller("web:user:bob"), sessionFile: "session-bob.jsonl" };

/** One turn; the process that served it. */
async function say(fx: AgentFixture, who: Partial<LeaseRequest>, text: string): Promise<number> {
  await using lease = await fx.lease(who);
  expect(replyOf(await collect(lease, text))).toBe("ok");
  return lease.pid;
}

describe("by default", () => {
  test(
    "two people never share a process, and what one has said is in nothing the other's model gets",
    async () => {
      await using fake = await startFakeProvider(() => says("ok"));
      await using fx = await agentFixture({ pool: { max: 1 } }, providers(fake));
      const [first, second, third] = [
        await say(fx, ann, `remember ${CANARY}`),
        await say(fx, bob, "what do you remember?"),
        await say(fx, ann, "and I?"),
      ];
      expect(new Set([first, second, third]).size).toBe(3);
      expect(identify(first)).toBeNull();
      expect(fake.requests.map(({ body }) => JSON.stringify(body).includes(CANARY))).toEqual([true, false, true]);
    },
    LIMIT_MS,
  );

  test(
    "the working folder is one for all sessions of an agent: a file there is seen by the next process too",
    async () => {
      await using fake = await startFakeProvider(() => says("ok"));
      await using fx = await agentFixture({}, providers(fake));
      await using one = await fx.lease(ann);
      await using other = await fx.lease(bob);
      expect(one.pid).not.toBe(other.pid);
      await writeFile(join(`/proc/${one.pid}/cwd`, "note.txt"), CANARY);
      expect(readFileSync(join(`/proc/${other.pid}/cwd`, "note.txt"), "utf8")).toBe(CANARY);
    },
    LIMIT_MS,
  );

  test(
    "what a process has left in the background ends when another person's takes its place",
    async () => {
      await using fake = await startFakeProvider(() => says("ok"));
      let pidFile = "";
      await using fx = await agentFixture({ pool: { max: 1 } }, providers(fake), async (home) => {
        pidFile = join(home.path, "children");
        return { piPath: await writePiWithChild(home.path, pidFile) };
      });
      await say(fx, ann, "hello");
      const [left = 0] = childrenIn(pidFile);
      expect(identify(left)).not.toBeNull();
      await using _next = await fx.lease(bob);
      await until(() => identify(left) === null);
      expect(childrenIn(pidFile).length).toBe(2);
    },
    LIMIT_MS,
  );
});

describe("with reuse by profile", () => {
  test(
    "people share a process, and each conversation still remembers only its own",
    async () => {
      await using fake = await startFakeProvider(() => says("ok"));
      await using fx = await agentFixture({ pool: { max: 2, reuse: "profile" } }, providers(fake));
      const pids = [
        await say(fx, ann, `remember ${CANARY}`),
        await say(fx, bob, "what do you remember?"),
        await say(fx, ann, "and I?"),
        await say(fx, bob, "still nothing?"),
      ];
      expect(new Set(pids).size).toBe(1);
      expect(fake.requests.map(({ body }) => JSON.stringify(body).includes(CANARY))).toEqual([
        true,
        false,
        true,
        false,
      ]);
    },
    LIMIT_MS,
  );
});

describe("a process is replaced after the turn", () => {
  test.each([
    ["in which it grew above maxRssMb", { maxRssMb: 1 }],
    ["in which it became older than maxAgeMs", { maxAgeMs: 1 }],
  ])(
    "%s, and the conversation goes on in the next one",
    async (_name, limit) => {
      await using fake = await startFakeProvider(() => says("ok"));
      await using fx = await agentFixture({ pool: { max: 1, ...limit } }, providers(fake));
      const first = await say(fx, ann, `remember ${CANARY}`);
      expect(await say(fx, ann, "and now?")).not.toBe(first);
      expect(identify(first)).toBeNull();
      expect(JSON.stringify(fake.requests.at(-1)?.messages)).toContain(CANARY);
    },
    LIMIT_MS,
  );

  test(
    "and one within the limits is not: a process of pi is far below the default",
    async () => {
      await using fake = await startFakeProvider(() => says("ok"));
      await using fx = await agentFixture({ pool: { max: 1, maxRssMb: 400 } }, providers(fake));
      const first = await say(fx, ann, "hello");
      const size = (rssBytes(first) ?? 0) / 1_048_576;
      expect([size > 10, size < 300]).toEqual([true, true]);
      expect(await say(fx, ann, "hello again")).toBe(first);
    },
    LIMIT_MS,
  );
});

test(
  "a process that only rests is replaced at its age as well, so that a ready one is never an old one",
  async () => {
    await using fx = await agentFixture({ pool: { min: 1, max: 1, idleMs: 20, maxAgeMs: 300 } });
    const spawned = () => fx.happened.filter(({ event }) => event === "agent.spawned").length;
    await until(() => spawned() >= 2 && fx.pool.stats().idle === 1);
    expect(fx.pool.stats()).toMatchObject({ busy: 0, waiting: 0, trouble: null });
  },
  LIMIT_MS,
);

function childrenIn(pidFile: string): readonly number[] {
  return readFileSync(pidFile, "utf8").trim().split("\n").map(Number);
}

/** Looks again whenever the event loop has turned; the test's own time limit ends a wait in vain. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
