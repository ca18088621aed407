/**
 * Every error that a model can meet, as it reads it. The list is not written here: it is the codes, the stages and the reasons of the code
 * itself, and one that has no case in this file fails a test.
 */
import { describe, expect, test } from "bun:test";
import { ERRORS } from "../contracts/errors.ts";
import { ENVELOPE_STATUS, envelopeOf, REJECTED_CALL_CODE } from "../contracts/tools/envelope.ts";
import type { ToolErrorCode, ToolOutcome } from "../contracts/tools/tool.ts";
import { MEMBER, policy, PROGRAM, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { STAGES } from "./stages/stages.ts";

type World = ReturnType<typeof toolWorld>;
type Failure = Exclude<ToolOutcome, { kind: "ok" }>;
interface Case {
  readonly code: ToolErrorCode;
  run(): Promise<ToolOutcome>;
}

const echo = tool(async () => says("done"));
const hanging = () => new Promise<never>(() => undefined);
const TEXT = { text: "x" };

/** The clock moves until the call has ended. */
async function ended(world: World, calling: Promise<ToolOutcome>): Promise<ToolOutcome> {
  const outcome: { seen?: ToolOutcome } = {};
  void calling.then((seen) => (outcome.seen = seen));
  for (let rounds = 0; outcome.seen === undefined && rounds < 100; rounds++) await world.clock.advance(1_000);
  return calling;
}

const blocking = (): World => {
  const world = toolWorld([echo]);
  world.hooks.on("before_tool_call", () => ({ block: "Not on Sundays." }), "guard");
  return world;
};

const STAGE_CASES: Readonly<Record<string, Case>> = {
  size: { code: "invalid_params", run: () => toolWorld([echo]).call({ text: "x".repeat(300_000) }) },
  profile: {
    code: "not_allowed",
    run: () =>
      toolWorld([tool(echo.execute, { flags: { idempotent: true, ownerOnly: true } })]).call(TEXT, { context: MEMBER }),
  },
  names: {
    code: "invalid_params",
    run: () => {
      const parameters = { type: "object", properties: { chat_id: { type: "string" } } };
      return toolWorld([tool(echo.execute, { parameters })]).call({ chat_id: "1", chatId: "2" });
    },
  },
  hooks: { code: "not_allowed", run: () => blocking().call(TEXT) },
  schema: { code: "invalid_params", run: () => toolWorld([echo]).call({}) },
  permission: {
    code: "not_allowed",
    run: () => {
      const world = toolWorld([echo]);
      world.hooks.on("before_tool_call", () => void (world.rules.now = policy({ deny: ["echo"] })), "slow");
      return world.call(TEXT);
    },
  },
  approval: { code: "approval_denied", run: () => toolWorld([tool(echo.execute, { approval: true })]).call(TEXT) },
  rate: {
    code: "rate_limited",
    async run() {
      const world = toolWorld([tool(echo.execute, { limit: { calls: 1, perMs: 60_000 } })]);
      await world.call(TEXT);
      return world.call(TEXT);
    },
  },
  slot: {
    code: "rate_limited",
    run() {
      const world = toolWorld([tool(hanging, { timeoutMs: 120_000 })]);
      world.rules.now = policy({ maxPerSession: 1, maxTotal: 1 });
      void world.call(TEXT);
      return ended(world, world.call(TEXT));
    },
  },
};

const CODE_CASES: Readonly<Record<ToolErrorCode, () => Promise<ToolOutcome>>> = {
  unknown_tool: () => toolWorld([echo]).call(TEXT, { tool: "ehco" }),
  invalid_params: () => toolWorld([echo]).call({ txet: "x" }),
  not_allowed: () => blocking().call(TEXT),
  approval_denied: () => toolWorld([tool(echo.execute, { approval: true })]).call(TEXT),
  rate_limited: async () => STAGE_CASES["rate"]?.run() ?? { kind: "ok", result: says("") },
  async call_conflict() {
    const world = toolWorld([echo]);
    await world.call(TEXT, { callId: "same" });
    return world.call({ text: "other" }, { callId: "same" });
  },
  async outcome_unknown() {
    const world = toolWorld([echo]);
    await world.call(TEXT, { callId: "same" });
    for (const row of world.rows) row.end = { status: "unknown", output: "", ms: 0 };
    return world.call(TEXT, { callId: "same" });
  },
  approval_pending() {
    const world = toolWorld([tool(echo.execute, { approval: true })]);
    world.approvals.answer = hanging();
    return ended(world, world.call(TEXT, { path: "http", context: PROGRAM }));
  },
  background() {
    const world = toolWorld([tool(hanging, { flags: { idempotent: true, background: true }, timeoutMs: 120_000 })]);
    return ended(world, world.call(TEXT));
  },
  tool_failed: () => toolWorld([tool(() => Promise.reject(new Error("The lamp is broken.")))]).call(TEXT),
  tool_timeout() {
    const world = toolWorld([tool(hanging, { timeoutMs: 1_000 })]);
    return ended(world, world.call(TEXT));
  },
  cancelled() {
    const world = toolWorld([tool(hanging)]);
    return ended(world, world.call(TEXT, {}, AbortSignal.abort(new Error("stopped"))));
  },
};

/** Words by which a sentence says what to do next. */
const TELLS =
  /\b(Send|Give|Use|Try again|Do not|Check|check before|Call fewer|Wait|Write it again|go on without|Did you mean|must be|The tools are)\b/;
/** A tool's own words are its own. */
const OWN_WORDS: readonly ToolErrorCode[] = ["tool_failed"];

function sentenceOf(outcome: Failure): string {
  const envelope = envelopeOf("echo", outcome);
  expect(Object.keys(envelope)).toEqual([
    "status",
    "tool",
    { error: "error", blocked: "reason", pending: "message" }[envelope.status],
  ]);
  expect(envelope).toMatchObject({ status: ENVELOPE_STATUS[outcome.code], tool: "echo" });
  return "error" in envelope ? envelope.error : "reason" in envelope ? envelope.reason : envelope.message;
}

async function failureOf(run: () => Promise<ToolOutcome>): Promise<Failure> {
  const outcome = await run();
  if (outcome.kind === "ok") throw new Error("the call ended well");
  return outcome;
}

describe("an error that a model can meet", () => {
  test("has a case here for every code, every stage and every reason to turn a call away", () => {
    expect(Object.keys(CODE_CASES).toSorted()).toEqual(Object.keys(ENVELOPE_STATUS).toSorted());
    expect(Object.keys(STAGE_CASES)).toEqual(STAGES.map(({ name }) => name));
    expect(Object.keys(ENVELOPE_STATUS).filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([]);
    expect(new Set(Object.values(ENVELOPE_STATUS))).toEqual(new Set(["error", "blocked", "pending"] as const));
  });

  test.each(Object.keys(CODE_CASES) as ToolErrorCode[])(
    "with the code %s is an envelope and says what to do",
    async (code) => {
      const outcome = await failureOf(CODE_CASES[code]);
      expect(outcome.code).toBe(code);
      const sentence = sentenceOf(outcome);
      expect(sentence).not.toBe("");
      if (!OWN_WORDS.includes(code)) expect(sentence).toMatch(TELLS);
    },
  );

  test.each(Object.keys(STAGE_CASES))("from the stage %s is an envelope and says what to do", async (stage) => {
    const { code, run } = STAGE_CASES[stage] as Case;
    const outcome = await failureOf(run);
    expect(outcome.code).toBe(code);
    expect(sentenceOf(outcome)).toMatch(TELLS);
  });

  test.each(Object.values(REJECTED_CALL_CODE))(
    "for a call that was rejected at the pipe has the code %s of a refusal",
    (code) => {
      expect(ENVELOPE_STATUS[code]).not.toBe("pending");
    },
  );
});

test("an owner is told where in a plugin's file its tool failed, from the folder of plugins on, and nobody else is", async () => {
  const world = toolWorld([
    tool(() => Promise.reject(new Error("no")), {
      flags: { idempotent: true },
      locationOf: () => "/home/ada/.pi-gateway/plugins/hello/index.ts:12:5",
    }),
  ]);
  expect(await world.call({ text: "x" })).toMatchObject({ message: "no (hello/index.ts:12:5)" });
  expect(await world.call({ text: "x" }, { context: MEMBER })).toMatchObject({ message: "no" });
});
