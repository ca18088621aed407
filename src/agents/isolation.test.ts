/** What one person's session leaves for another: nothing but the working folder. Real pi; the provider's requests are the proof. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LeaseRequest } from "../contracts/agent.ts";
import { type AgentFixture, agentFixture, caller, collect, providers, replyOf } from "../testing/agent-fixture.ts";
import { programPid } from "../testing/confined-pid.ts";
import { createAgentStage, until } from "../testing/agent-stage.ts";
import { says, startFakeProvider } from "../testing/fake-provider.ts";
import { writePiWithChild, writeScriptedAgent } from "../testing/scripted-agent.ts";
import { identify, rssBytes } from "./process/proc.ts";

const LIMIT_MS = 40_000;
const CANARY = "canary-5b1e77";

const ann = { caller: caller("web:user:ann"), sessionFile: "session-ann.jsonl" };
const bob = { caller: caller("web:user:bob"), sessionFile: "session-bob.jsonl" };

/** What processes have of sessions now, each in a folder of its own. */
function sessionsOf(home: string): readonly string[] {
  const folders = join(home, "run", "sessions");
  return readdirSync(folders).flatMap((folder) => readdirSync(join(folders, folder)));
}

/** One turn; the process that served it. */
async function say(fx: AgentFixture, who: Partial<LeaseRequest>, text: string): Promise<number> {
  await using lease = await fx.lease(who);
  expect(replyOf(await collect(lease, text))).toBe("ok");
  return lease.pid;
}

describe("by default", () => {
  /** Ann, Bob and Ann again, where there is room for one process: the tests look at one thing each of what that left. */
  let story: Awaited<ReturnType<typeof tell>>;
  beforeAll(async () => void (story = await tell()), LIMIT_MS);
  afterAll(() => story?.[Symbol.asyncDispose]());

  async function tell() {
    await using stack = new AsyncDisposableStack();
    const fake = stack.use(await startFakeProvider(() => says("ok")));
    let pidFile = "";
    const fx = stack.use(
      await agentFixture({ pool: { max: 1 } }, providers(fake), async (home) => {
        pidFile = join(home.path, "children");
        return { piPath: await writePiWithChild(home.path, pidFile) };
      }),
    );
    const first = await fx.lease(ann);
    expect(replyOf(await collect(first, `remember ${CANARY}`))).toBe("ok");
    await writeFile(join(`/proc/${first.pid}/cwd`, "note.txt"), CANARY);
    await first[Symbol.asyncDispose]();
    const [left = 0] = childrenIn(pidFile);
    const whileAnnRests = { process: identify(first.pid), leftBehind: identify(left) };

    const second = await fx.lease(bob);
    const note = readFileSync(join(`/proc/${second.pid}/cwd`, "note.txt"), "utf8");
    const bobHas = sessionsOf(fx.home);
    expect(replyOf(await collect(second, "what do you remember?"))).toBe("ok");
    const children = childrenIn(pidFile).length;
    await second[Symbol.asyncDispose]();
    const pids = [first.pid, second.pid, await say(fx, ann, "and I?")];
    const atTheEnd = identify(first.pid);
    const told = fake.requests.map(({ body }) => JSON.stringify(body).includes(CANARY));
    const keptAtTheEnd = readdirSync(join(fx.home, "sessions")).sort();
    const kept = stack.move();
    const end = () => kept.disposeAsync();
    return {
      whileAnnRests,
      atTheEnd,
      note,
      left,
      children,
      pids,
      told,
      bobHas,
      keptAtTheEnd,
      [Symbol.asyncDispose]: end,
    };
  }

  test("two people never share a process, one that has served another is ended, and what one has said is in nothing the other's model gets", () => {
    expect(new Set(story.pids).size).toBe(3);
    expect(story.whileAnnRests.process).not.toBeNull();
    expect(story.atTheEnd).toBeNull();
    expect(story.told).toEqual([true, false, true]);
  });

  test("a process has the session of its turn and no other one, and gives it back when the turn is over", () => {
    expect(story.bobHas).toEqual([bob.sessionFile]);
    expect(story.keptAtTheEnd).toEqual([ann.sessionFile, bob.sessionFile]);
  });

  test("the working folder is one for all sessions of an agent: a file there is seen by the next process too", () => {
    expect(story.pids[0]).not.toBe(story.pids[1]);
    expect(story.note).toBe(CANARY);
  });

  test(
    "what a process has left in the background ends when another person's takes its place",
    async () => {
      expect(story.whileAnnRests.leftBehind).not.toBeNull();
      expect(story.children).toBe(2); // Bob's process has begun with one of its own
      await until("the process left behind has ended", () => identify(story.left) === null);
    },
    LIMIT_MS,
  );
});

test(
  "people have working folders and homes of their own when the workspace is for each person, and find them again",
  async () => {
    const command = `pwd; echo "$HOME"; cat note.txt "$HOME/.rc"; echo ${CANARY} | tee note.txt > "$HOME/.rc"`;
    await using fake = await startFakeProvider(({ messages }) =>
      messages.at(-1)?.role === "tool" ? says("ok") : { kind: "tools", calls: [{ name: "bash", input: { command } }] },
    );
    await using fx = await agentFixture(
      { tools: "full", workspace: { scope: "person" }, pool: { min: 1 } },
      providers(fake),
    );
    for (const who of [ann, bob, ann]) await say(fx, who, "look and leave a note");
    const [first = [], second = [], third = []] = fx.gate.admitted.map(
      ({ end }) => end?.output.trim().split("\n") ?? [],
    );
    expect(first[0]).toStartWith(join(fx.home, "workspace", "people", "web-user-ann-"));
    expect(first.slice(0, 2).some((folder) => second.includes(folder))).toBe(false);
    expect([first, second, third].map((said) => said.filter((line) => line === CANARY).length)).toEqual([0, 0, 2]);
    expect(third.slice(0, 2)).toEqual(first.slice(0, 2));
    expect(fx.happened.filter(({ event }) => event === "agent.spawned")).toHaveLength(2); // nothing is kept ready for nobody
  },
  LIMIT_MS,
);

test("a link in the place of a person's working folder starts no process, so that nobody works where it leads", async () => {
  await using fx = await agentFixture({ workspace: { scope: "person" }, pool: { min: 0 } });
  const people = join(fx.home, "workspace", "people");
  await mkdir(join(fx.home, "elsewhere"));
  await symlink(join(fx.home, "elsewhere"), people);
  expect(await fx.lease(ann).catch((error: unknown) => error)).toMatchObject({ code: "home_unusable" });
  expect(readdirSync(join(fx.home, "elsewhere"))).toEqual([]);
});

test("scripts of an agent find the key of the conversation they work for, also when the process goes on with another one", async () => {
  await using fake = await startFakeProvider(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? says("ok")
      : { kind: "tools", calls: [{ name: "bash", input: { command: 'echo "key=$PI_GATEWAY_SESSION_KEY"' } }] },
  );
  await using fx = await agentFixture({ tools: "full", pool: { max: 1 } }, providers(fake));
  await say(fx, ann, "one");
  const { sessionKey } = ann.caller;
  const other = `${sessionKey}:other` as typeof sessionKey;
  await say(fx, { caller: { ...ann.caller, sessionKey: other }, sessionFile: "other-session.jsonl" }, "two");
  const said = fx.gate.admitted.map(({ end }) => end?.output.trim());
  expect(said).toEqual([`key=${sessionKey}`, `key=${other}`]);
}, 60_000);

test(
  "a temporary file of one person is gone with their process, and the next person's process has a place of its own",
  async () => {
    const place = '"${TMPDIR:-/tmp}"';
    const keep = `echo ${CANARY} > "$(mktemp ${place}/kept-XXXXXX)"; echo ${place}; cat ${place}/kept-*`;
    await using fake = await startFakeProvider(({ messages }) => {
      if (messages.at(-1)?.role === "tool") return says("ok");
      const isAnn = JSON.stringify(messages.at(-1)).includes("keep this");
      return {
        kind: "tools",
        calls: [{ name: "bash", input: { command: isAnn ? keep : `cat ${place}/kept-*` } }],
      };
    });
    await using fx = await agentFixture({ tools: "full", pool: { max: 1 } }, providers(fake));
    const said = () => fx.gate.admitted.map(({ end }) => end?.output ?? "");
    await say(fx, ann, "keep this");
    const [folder = "", kept] = (said()[0] ?? "").split("\n");
    expect([kept, existsSync(folder)]).toEqual([CANARY, true]);
    await say(fx, bob, "what is there?");
    expect(said()[1]).toContain("No such file");
    expect(said()[1]).not.toContain(CANARY);
    await until("the temporary folder is gone", () => !existsSync(folder));
  },
  LIMIT_MS,
);

describe("with reuse by profile, and within the limits of size and age", () => {
  const agents = createAgentStage({ pool: { max: 2, reuse: "profile", maxRssMb: 400 } });
  afterAll(() => agents[Symbol.asyncDispose]());

  test(
    "people share a process, and each conversation still remembers only its own",
    async () => {
      const { fx, requests, file } = await agents.scene();
      const [hers, his] = [
        { ...ann, sessionFile: file("ann") },
        { ...bob, sessionFile: file("bob") },
      ];
      const pids = [
        await say(fx, hers, `remember ${CANARY}`),
        await say(fx, his, "what do you remember?"),
        await say(fx, hers, "and I?"),
        await say(fx, his, "still nothing?"),
      ];
      expect(new Set(pids).size).toBe(1);
      expect(requests.map(({ body }) => JSON.stringify(body).includes(CANARY))).toEqual([true, false, true, false]);
    },
    LIMIT_MS,
  );

  test(
    "a process is not replaced after the turn: one of pi is far below the default",
    async () => {
      const { fx } = await agents.scene();
      const first = await say(fx, { caller: ann.caller }, "hello");
      const size = (rssBytes(programPid(first)) ?? 0) / 1_048_576;
      expect([size > 10, size < 300]).toEqual([true, true]);
      expect(await say(fx, { caller: ann.caller }, "hello again")).toBe(first);
    },
    LIMIT_MS,
  );
});

describe("a process is replaced after the turn", () => {
  test.each([
    ["in which it grew above maxRssMb, where memory is scarce", { maxRssMb: 20 }],
    ["in which it became older than maxAgeMs", { maxAgeMs: 1 }],
  ])(
    "%s, and the conversation goes on in the next one",
    async (_name, limit) => {
      await using fake = await startFakeProvider(() => says("ok"));
      await using fx = await agentFixture({ pool: { max: 1, ...limit }, freeMb: 100 }, providers(fake));
      const first = await say(fx, ann, `remember ${CANARY}`);
      expect(await say(fx, ann, "and now?")).not.toBe(first);
      expect(identify(first)).toBeNull();
      expect(JSON.stringify(fake.requests.at(-1)?.messages)).toContain(CANARY);
    },
    LIMIT_MS,
  );
});

test(
  "a process that only rests is replaced at its age as well, so that a ready one is never an old one",
  async () => {
    // played by a script: the pool looks at the age of what rests, whatever it is, and pi would be old before it has started
    await using fx = await agentFixture(
      { pool: { min: 1, max: 1, idleMs: 20, maxAgeMs: 300 } },
      { keys: {}, providers: {} },
      async (home) => ({ piPath: await writeScriptedAgent(home.path, { kind: "none" }) }),
    );
    const spawned = () => fx.happened.filter(({ event }) => event === "agent.spawned").length;
    await until("a second process that is idle", () => spawned() >= 2 && fx.pool.stats().idle === 1);
    expect(fx.pool.stats()).toMatchObject({ busy: 0, waiting: 0, trouble: null });
  },
  LIMIT_MS,
);

function childrenIn(pidFile: string): readonly number[] {
  return readFileSync(pidFile, "utf8").trim().split("\n").map(Number);
}
