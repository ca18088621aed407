/** The gate keeps nothing of calls that have ended, in whatever way and for however many sessions, turns and ids. */
import { expect, test } from "bun:test";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import type { ToolContext } from "../contracts/tools/tool.ts";
import { keptPerRound } from "../testing/memory-growth.ts";
import { OWNER, policy, says, tool, toolWorld } from "../testing/tools/tool-world.ts";

type World = ReturnType<typeof toolWorld>;

/** What the test's own world writes down is not the gate's. */
function forgetRecords({ log, store, hooks, approvals, ended }: World): void {
  for (const list of [log.lines, store.rows, hooks.told, approvals.asked, ended]) (list as unknown[]).length = 0;
}

const contextOf = (round: number): ToolContext => ({
  ...OWNER,
  sessionKey: `agent:default:webchat:dm:${round}` as SessionKey,
  turnId: `turn_${round}` as TurnId,
});

/** Each round is a call of its own session, turn and id. */
const ROUNDS: Readonly<Record<string, (world: World, context: ToolContext, callId: string) => Promise<unknown>>> = {
  answers: ({ call }, context, callId) => call({ text: "x" }, { context, callId }),
  fails: ({ call }, context, callId) => call({ text: "fail" }, { context, callId }),
  "is refused": ({ call }, context, callId) => call({}, { context, callId }),
  "names no tool": ({ call }, context, callId) => call({}, { context, callId, tool: `tool_${callId}` }),
  "is denied by the owner": ({ call }, context, callId) => call({ text: "x" }, { context, callId, tool: "asking" }),
  "is cancelled": async ({ call, clock }, context, callId) => {
    const turn = new AbortController();
    const outcome = call({ text: "wait" }, { context, callId }, turn.signal);
    await clock.advance(0);
    turn.abort(new Error("stopped"));
    await outcome;
  },
  "is cancelled while it waits for a slot": async ({ call, rules, clock }, context, callId) => {
    rules.now = policy({ maxTotal: 0 });
    const turn = new AbortController();
    const outcome = call({ text: "x" }, { context, callId }, turn.signal);
    await clock.advance(0);
    turn.abort(new Error("stopped"));
    await outcome;
  },
  "goes on in the background": async ({ call, clock }, context, callId) => {
    await call({ text: "report" }, { context, callId, tool: "later" });
    await clock.advance(0);
  },
  "is a pi tool's": async ({ gate, rules }, context, callId) => {
    rules.now = policy({ profile: () => "full" });
    const request = { tool: "read", params: { path: "a" }, path: "pi", callId, context } as const;
    const admitted = await gate.admit(request, new AbortController().signal);
    if (admitted.kind === "go") await admitted.ended({ isError: false, output: "said" });
  },
  "is rejected": async ({ gate, clock }, context, callId) => {
    const what = { tool: "echo", callId, params: {}, path: "pipe" } as const;
    gate.recordRejected({ ...what, context, reason: "outside_turn" as never, because: "no turn" });
    await clock.advance(60_000);
  },
};

test.each(Object.entries(ROUNDS))("a gate keeps nothing of a call that %s", async (_what, round) => {
  const made = tool(async (...[, params, signal, report]) => {
    const { text } = params as { text: string };
    if (text === "fail") throw new Error("no");
    if (text === "report") report(says("begun"));
    if (text !== "wait") return says("done");
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  });
  const background = { ...made, name: "later", flags: { idempotent: true, background: true } };
  const world = toolWorld([made, background, { ...made, name: "asking", approval: true }]);
  const kept = await keptPerRound(async (n) => {
    await round(world, contextOf(n), `call_${n}`);
    forgetRecords(world);
  });
  expect(kept).toEqual({});
  expect(world.clock.pending()).toBe(0);
});
