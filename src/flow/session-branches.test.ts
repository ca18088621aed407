import { expect, test } from "bun:test";
import type { Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { Rewound, TurnPlace } from "../contracts/store/session-branches.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { createSessionBrancher } from "./session-branches.ts";

type Copied = "copied" | "busy" | "lost" | "too_large";
const KEY = "agent:default:webchat:dm:1" as SessionKey;
const NEVER = new AbortController().signal;
const PLACE: TurnPlace = {
  turnId: "t1" as TurnId,
  file: "session-1.jsonl",
  beganBytes: 100,
  settledBytes: 200,
  endedAt: 6,
  said: [],
};
const REQUEST = {
  message: "in1",
  to: { sessionKey: "agent:default:webchat:dm:2" as SessionKey, channel: "webchat" },
  by: "operator" as Principal,
};

interface Script {
  readonly place?: TurnPlace | null;
  readonly rewound?: Rewound;
  readonly branched?: boolean;
  readonly title?: string;
  /** The turn of the newest message; null: it waits for one. */
  readonly newest?: string | null;
  copies?: Copied[];
}

function world(script: Script = {}) {
  const { place = PLACE, rewound, branched = true, title = "Plants", newest = "t1", copies = ["copied"] } = script;
  const clock = createFakeClock();
  const log: unknown[] = [];
  const hidden = ["in1", "t1:0"];
  const brancher = createSessionBrancher({
    clock,
    ids: createSeqIds(),
    events: {
      emit: (event: string, data: { item?: { id: string; deleted?: true } }) =>
        void log.push(data.item ? [event, data.item.id, data.item.deleted] : event),
      on: () => ({ [Symbol.dispose]: () => undefined }),
    },
    sessions: {
      get: async () => ({ title }),
      transcript: async () => ({ items: [{ id: "t1:0", turnId: newest }] }),
      branches: {
        place: async () => place,
        rewind: async () => rewound ?? { kind: "rewound", hidden },
        branch: async () => branched,
      },
    },
    copyFile: async ({ bytes }: { bytes: number }) => {
      const done = (copies.length > 1 ? copies.shift() : copies[0]) ?? "lost";
      log.push([done, bytes]);
      return { kind: done, change: null };
    },
    removeFile: async () => void log.push("removed the copy"),
  } as unknown as Parameters<typeof createSessionBrancher>[0]);
  return { clock, log, brancher };
}

const sayOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: { say?: string }) => error.say ?? String(error),
  );

test("a session goes back with the memory from before the turn, and clients are told what is shown no more", async () => {
  const { brancher, log } = world();
  await brancher.rewind(KEY, "in1", NEVER);
  expect(log).toEqual([["copied", 100], ["message", "in1", true], ["message", "t1:0", true], "status"]);
});

test("a branch has the memory from after the turn, and a title that says what it is", async () => {
  const { brancher, log } = world();
  expect(await brancher.branch(KEY, REQUEST, NEVER)).toEqual({
    sessionKey: REQUEST.to.sessionKey,
    title: "Plants (branch)",
  });
  expect(log).toEqual([["copied", 200], "status"]);
});

test.each([
  ["Plants (branch)", "Plants (branch)"],
  ["", "Untitled (branch)"],
])("a branch of a session called %p is called %p", async (title, called) => {
  const { brancher } = world({ title });
  expect(await brancher.branch(KEY, REQUEST, NEVER)).toMatchObject({ title: called });
});

test("a branch that is refused leaves no copy behind, and no client is told of it", async () => {
  const { brancher, log } = world({ branched: false });
  expect(await sayOf(brancher.branch(KEY, REQUEST, NEVER))).toStartWith("A session of that name is there already");
  expect(log).toEqual([["copied", 200], "removed the copy"]);
});

test("a session is branched at its newest turn, and not at a message that waits for one", async () => {
  const { message: _message, ...anywhere } = REQUEST;
  expect(await sayOf(world().brancher.branch(KEY, anywhere, NEVER))).toBe("done");
  const waits = world({ newest: null });
  expect(await sayOf(waits.brancher.branch(KEY, anywhere, NEVER))).toBe("Nothing was said in this session yet.");
});

test("a turn without a memory before it is gone back to without a copy", async () => {
  const { brancher, log } = world({ place: { ...PLACE, beganBytes: 0 } });
  await brancher.rewind(KEY, "in1", NEVER);
  expect(log[0]).toEqual(["message", "in1", true]);
});

test("a file that a process still has is waited for a moment, and not for ever", async () => {
  const soon = world({ copies: ["busy", "busy", "copied"] });
  const done = sayOf(soon.brancher.rewind(KEY, "in1", NEVER));
  await soon.clock.advance(1_000);
  expect(await done).toBe("done");
  const never = world({ copies: ["busy"] });
  const refused = sayOf(never.brancher.branch(KEY, REQUEST, NEVER));
  await never.clock.advance(10_000);
  expect(await refused).toStartWith("An answer is being written here");
});

test("a file that a process still has is asked for every 50 ms, at last after five seconds", async () => {
  const copies: Copied[] = Array.from({ length: 101 }, (_, at) => (at === 100 ? "copied" : "busy"));
  const last = world({ copies });
  const done = sayOf(last.brancher.rewind(KEY, "in1", NEVER));
  await last.clock.advance(4_999);
  expect(last.log).toHaveLength(100);
  await last.clock.advance(1);
  expect(await done).toBe("done");
  const late = world({ copies: ["busy"] });
  const refused = sayOf(late.brancher.rewind(KEY, "in1", NEVER));
  await late.clock.advance(10_000);
  expect([await refused, late.log.length, late.clock.pending()]).toEqual([
    expect.stringContaining("An answer is being written here"),
    102,
    0,
  ]);
});

test.each([
  ["not shown", { place: null }, "There is no such message in this conversation"],
  ["running", { place: { ...PLACE, endedAt: null } }, "An answer is being written here"],
  ["of an earlier version", { place: { ...PLACE, beganBytes: null } }, "What the assistant remembered at this point"],
  ["without its file", { copies: ["lost"] as Copied[] }, "What the assistant remembered at this point"],
  ["in too long a file", { copies: ["too_large"] as Copied[] }, "This conversation is too long"],
])("a turn that is %s cannot be gone back to, and the reason is a sentence", async (_name, script: Script, say) => {
  const { brancher, log } = world(script);
  expect(await waitForEnd("the refusal", sayOf(brancher.rewind(KEY, "in1", NEVER)))).toStartWith(say);
  expect(log).not.toContain("status");
});

test.each([
  [{ kind: "busy" }, "An answer is being written here"],
  [{ kind: "gone" }, "There is no such message in this conversation"],
  [{ kind: "too_far" }, "That is too far back"],
] as const)("a copy that is not used is removed: %p", async (rewound, say) => {
  const { brancher, log } = world({ rewound });
  expect(await sayOf(brancher.rewind(KEY, "in1", NEVER))).toStartWith(say);
  expect(log).toEqual([["copied", 100], "removed the copy"]);
});

test("a copy is told to the store with its name, its size, and how it came about where files are kept elsewhere", async () => {
  const change = { kind: "whole" };
  const asked: unknown[] = [];
  const copies: unknown[] = [];
  const { clock } = world();
  const brancher = createSessionBrancher({
    clock,
    ids: createSeqIds(),
    events: { emit: () => undefined, on: () => ({ [Symbol.dispose]: () => undefined }) },
    sessions: {
      get: async () => ({ title: "" }),
      transcript: async () => ({ items: [] }),
      branches: {
        place: async () => PLACE,
        rewind: async (_key: unknown, given: unknown) => (asked.push(given), { kind: "rewound", hidden: [] }),
        branch: async (given: unknown) => (asked.push(given), true),
      },
    },
    copyFile: async (copy: { bytes: number }) => (
      copies.push(copy),
      { kind: "copied", change: copy.bytes === 100 ? change : null }
    ),
    removeFile: async () => undefined,
  } as unknown as Parameters<typeof createSessionBrancher>[0]);
  await brancher.rewind(KEY, "in1", NEVER);
  const branch = await brancher.branch(KEY, REQUEST, NEVER);
  const [first, second] = copies as { from: string; to: string; id: string; bytes: number; endedAt: number }[];
  expect([first?.from, first?.bytes, first?.endedAt, second?.bytes, first?.to === second?.to]).toEqual([
    PLACE.file,
    100,
    6,
    200,
    false,
  ]);
  const at = clock.now();
  expect(asked).toEqual([
    { turnId: "t1", file: { name: first?.to, bytes: 100, change }, at },
    {
      from: KEY,
      turnId: "t1",
      title: "Untitled (branch)",
      file: { name: second?.to, bytes: 200 },
      at,
      key: REQUEST.to.sessionKey,
      channel: "webchat",
      person: "operator",
    },
  ]);
  expect(branch).toEqual({ sessionKey: REQUEST.to.sessionKey, title: "Untitled (branch)" });
});
