/** Rights are those of now at every step of a call, on every path: whatever is taken away while a call waits or runs is gone for it. */
import { describe, expect, test } from "bun:test";
import type { ApprovalAnswer } from "../../contracts/tools/approval.ts";
import type { ToolPath } from "../../contracts/tools/tool.ts";
import { MEMBER, OWNER, policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { LOST } from "./rights.ts";

const GONE = { kind: "lost", because: "unknown_sender", tell: true } as const;
const DEMOTED = { kind: "held", role: "member" } as const;
const NEVER = new AbortController().signal;
const PATHS = ["pipe", "http", "socket", "command"] as const satisfies readonly ToolPath[];

/** A world whose one tool counts how often it ran. */
function counted(over: Parameters<typeof tool>[1] = {}) {
  const ran: string[] = [];
  const world = toolWorld([
    tool(async (...[callId, , , , { role }]) => {
      ran.push(`${callId} as ${role}`);
      return says("done");
    }, over),
  ]);
  return { ...world, ran };
}

describe("a caller who lost access", () => {
  test.each(PATHS)("gets nothing run over %s, and the call is on record", async (path) => {
    const { call, rights, ran, last } = counted();
    rights.current = GONE;
    expect(await call({ text: "x" }, { path })).toEqual({ kind: "refused", code: "not_allowed", message: LOST });
    expect(ran).toEqual([]);
    expect(last()?.end).toMatchObject({ status: "blocked", output: LOST });
  });

  test("gets no tool of pi admitted", async () => {
    const world = counted();
    world.rules.now = policy({ profile: () => "full" });
    world.rights.current = GONE;
    const request = { tool: "read", callId: "r1", params: { path: "a" }, path: "pi", context: OWNER } as const;
    expect(await world.gate.admit(request, NEVER)).toMatchObject({ kind: "refused", message: LOST });
  });

  test("gets no tool of pi admitted that waited for an approval", async () => {
    const world = counted();
    asks(world, "once", () => world.rights.change(GONE));
    world.rules.now = policy({ profile: () => "full" });
    const request = { tool: "bash", callId: "b1", params: { command: "id" }, path: "pi", context: OWNER } as const;
    expect(await world.gate.admit(request, NEVER)).toMatchObject({ kind: "refused", message: LOST });
    expect(world.approvals.asked).toHaveLength(1);
  });

  test("is refused the very next call of a turn whose first call was allowed", async () => {
    const { call, rights, ran } = counted();
    expect(await call({ text: "x" }, { context: MEMBER })).toMatchObject({ kind: "ok" });
    rights.current = GONE;
    expect(await call({ text: "x" }, { context: MEMBER })).toMatchObject({ kind: "refused" });
    expect(ran).toHaveLength(1);
  });
});

describe("a caller who was demoted", () => {
  test("may not use what is for owners, and other tools see the role of now", async () => {
    const guarded = counted({ flags: { idempotent: true, ownerOnly: true } });
    guarded.rights.current = DEMOTED;
    expect(await guarded.call({ text: "x" })).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("only owners may use it"),
    });
    const open = counted();
    open.rights.current = DEMOTED;
    await open.call({ text: "x" });
    expect(open.ran).toEqual(["c1 as member"]);
  });

  test("has the tools of pi that the role of now has, and no others", async () => {
    const world = counted();
    world.rules.now = policy({ profile: (_agent, role) => (role === "owner" ? "full" : "workspace") });
    world.rights.current = DEMOTED;
    const admit = async (name: string) =>
      (await world.gate.admit({ tool: name, callId: name, params: {}, path: "pi", context: OWNER }, NEVER)).kind;
    expect([await admit("read"), await admit("bash")]).toEqual(["go", "refused"]);
  });

  test("is not served by a tool that was made for the role of before", async () => {
    const made: string[] = [];
    const world = toolWorld([
      (caller) => {
        made.push(caller.role);
        return caller.role === "owner" ? tool(async () => says("secret of owners")) : null;
      },
    ]);
    world.rights.current = DEMOTED;
    expect(await world.call({ text: "x" })).toMatchObject({ kind: "refused", code: "unknown_tool" });
    expect(made.at(-1)).toBe("member");
  });
});

function asks({ approvals, rules }: ReturnType<typeof counted>, says: ApprovalAnswer, change: () => void): void {
  rules.now = policy({ approvals: { ask: ["echo"], never: [] } });
  const answer = Promise.withResolvers<ApprovalAnswer>();
  approvals.answer = answer.promise;
  setImmediate(() => {
    change();
    answer.resolve(says);
  });
}

/** Where a call can wait, and how a test holds it there until rights have changed. */
const WAITS: Readonly<Record<string, (world: ReturnType<typeof counted>, change: () => void) => void>> = {
  "at a plugin hook": ({ hooks }, change) => void hooks.on("before_tool_call", () => change(), "p"),
  "for an approval of this call": (world, change) => asks(world, "once", change),
  "for an approval of the whole session": (world, change) => asks(world, "session", change),
};

describe("a call that waited", () => {
  for (const [where, hold] of Object.entries(WAITS)) {
    test.each([GONE, DEMOTED])(`${where} does not run when its caller is now %j`, async (to) => {
      const world = counted();
      hold(world, () => world.rights.change(to));
      expect(await world.call({ text: "x" })).toMatchObject({ kind: "refused", code: "not_allowed" });
      expect(world.ran).toEqual([]);
    });

    test(`${where} does not run when a list denies the tool by now`, async () => {
      const world = counted();
      hold(world, () => void (world.rules.now = { ...world.rules.now, deny: ["echo"] }));
      expect(await world.call({ text: "x" })).toMatchObject({ kind: "refused", code: "not_allowed" });
      expect(world.ran).toEqual([]);
    });
  }

  test("for a free slot does not run when its caller lost access meanwhile, and gives the slot back", async () => {
    const first = Promise.withResolvers<void>();
    const ran: string[] = [];
    const world = toolWorld([
      tool(
        async (callId) => {
          ran.push(callId);
          if (callId === "one") await first.promise;
          return says("done");
        },
        { flags: { idempotent: true, sequential: true } },
      ),
    ]);
    const one = world.call({ text: "x" }, { callId: "one", context: OWNER });
    const two = world.call({ text: "x" }, { callId: "two", context: MEMBER });
    await world.clock.advance(0);
    world.rights.current = GONE; // nobody is told: the call that runs goes on
    first.resolve();
    expect(await one).toMatchObject({ kind: "ok" });
    expect(await two).toMatchObject({ kind: "refused", message: LOST });
    world.rights.current = null;
    expect(await world.call({ text: "x" }, { callId: "three" })).toMatchObject({ kind: "ok" });
    expect(ran).toEqual(["one", "three"]);
  });
});

describe("a call that runs", () => {
  const hanging = (flags: object = {}) => {
    const heard: string[] = [];
    const world = toolWorld([
      tool(
        (_id, _params, signal, report) =>
          new Promise((_, reject) => {
            report(says("begun"));
            signal.addEventListener("abort", () => {
              heard.push("stopped");
              reject(signal.reason);
            });
          }),
        { flags: { idempotent: true, ...flags }, timeoutMs: 3_000_000 },
      ),
    ]);
    return { ...world, heard };
  };

  test.each([
    ["its caller lost access", GONE],
    ["its caller may not use it any more", DEMOTED],
  ])("is stopped when %s", async (_why, to) => {
    const world = hanging({ ownerOnly: true });
    const outcome = world.call({ text: "x" });
    await world.clock.advance(0);
    world.rights.change(to);
    expect(await outcome).toMatchObject({ kind: "failed", code: "cancelled" });
    expect(world.heard).toEqual(["stopped"]);
  });

  test("is stopped when its rights cannot be looked up any more", async () => {
    const world = hanging();
    const outcome = world.call({ text: "x" });
    await world.clock.advance(0);
    world.rights.now = () => Promise.reject(new Error("database locked"));
    world.rights.change({ kind: "held", role: "owner" });
    expect(await outcome).toMatchObject({ kind: "failed", code: "cancelled" });
    expect(world.heard).toEqual(["stopped"]);
  });

  test("in the background is stopped as well, after its turn", async () => {
    const world = hanging({ background: true });
    expect(await world.call({ text: "x" })).toMatchObject({ kind: "pending", code: "background" });
    world.rights.change(GONE);
    await world.clock.advance(0);
    expect(world.heard).toEqual(["stopped"]);
    expect(world.ended).toMatchObject([{ outcome: { kind: "failed", code: "cancelled" } }]);
  });

  test("goes on when rights changed and its own did not", async () => {
    const world = hanging();
    const stop = new AbortController();
    const outcome = world.call({ text: "x" }, {}, stop.signal);
    await world.clock.advance(0);
    world.rights.change({ kind: "held", role: "owner" });
    await world.clock.advance(0);
    expect(world.heard).toEqual([]);
    stop.abort();
    expect(await outcome).toMatchObject({ code: "cancelled" });
  });
});
