/** Texts that are cut because they are too long: a secret that lies across the cut is left out whole, on every way that a text of a tool takes. */
import { expect, test } from "bun:test";
import { secret } from "../../kit/secret.ts";
import { createRedactor } from "../../observe/index.ts";
import { OWNER, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { USUAL_LIMITS } from "../../testing/tools/quiet-deps.ts";
import type { Tool } from "../../contracts/tools/tool.ts";

const SECRET = "0p3rator-Qx7vLm2Kd9Tz4Rb8";
/** Any longer piece of it would be told or stored by mistake; fewer characters are like the end of many words. */
const PIECE_CHARS = 4;

const LIMITS = { ...USUAL_LIMITS, maxOutputChars: 2_000 };
const redactor = createRedactor();
redactor.add(secret(SECRET));

/** A world in which everything that anybody is told or that is written down is looked through. */
function watched(one: Tool) {
  const world = toolWorld([one], { mask: redactor.mask, scrub: redactor.scrub, runLimits: () => LIMITS });
  const updates: unknown[] = [];
  const called = async (path: "http" | "pipe") => {
    const outcome = await world.call({ text: "hi" }, { path, onUpdate: (partial) => void updates.push(partial) });
    await world.gate[Symbol.asyncDispose]();
    return outcome;
  };
  const seen = (): string => JSON.stringify([updates, world.rows, world.hooks.told]);
  return { world, called, seen };
}

/** The secret, moved over the cut one character after the other. */
const PLACES = Array.from({ length: SECRET.length - PIECE_CHARS }, (_, at) => at + PIECE_CHARS);
const acrossCut = (limit: number, shown: number): string => `${"x".repeat(limit - shown)}${SECRET} and more`;

const WAYS: readonly (readonly [string, number, (text: string) => Tool])[] = [
  ["a result", LIMITS.maxOutputChars, (text) => tool(async () => says(text))],
  ["a thrown error", 4_096, (text) => tool(() => Promise.reject(new Error(text)))],
  ["a result that says it is an error", 4_096, (text) => tool(async () => ({ ...says(text), isError: true }))],
  [
    "a report of progress",
    4_096,
    (text) =>
      tool(async (_id, _params, _signal, report) => {
        report?.(says(text));
        return says("done");
      }),
  ],
];

test.each(WAYS)("%s that is cut within a secret shows no piece of it", async (_what, limit, made) => {
  for (const shown of PLACES) {
    const { called, seen } = watched(made(acrossCut(limit, shown)));
    const told = JSON.stringify(await called("http"));
    expect([shown, `${told}${seen()}`.includes(`x${SECRET.slice(0, PIECE_CHARS)}`)]).toEqual([shown, false]);
  }
});

test("a model reads a long result up to the secret at its cut, and how much is left out", async () => {
  const limit = LIMITS.maxOutputChars;
  const text = acrossCut(limit, 10);
  const outcome = await watched(tool(async () => says(text))).called("pipe");
  const left = text.length - (limit - 10);
  expect(outcome).toEqual({
    kind: "ok",
    result: says(`${"x".repeat(limit - 10)}\n[cut: ${left} more characters]`),
  });
});

test("a secret that is whole before the cut stays for the model and is masked for everybody else", async () => {
  const text = `${SECRET}${"x".repeat(LIMITS.maxOutputChars)}`;
  const made = tool(async () => says(text));
  expect(JSON.stringify(await watched(made).called("pipe"))).toContain(SECRET);
  expect(JSON.stringify(await watched(made).called("http"))).not.toContain(SECRET);
});

test("the reason of a plugin is cut between secrets", async () => {
  const { world, called, seen } = watched(tool(async () => says("hi")));
  world.hooks.on("before_tool_call", () => ({ block: acrossCut(500, 10) }), "guard");
  const told = JSON.stringify(await called("http"));
  expect(told).toContain("xxxx");
  expect(`${told}${seen()}`).not.toContain(SECRET.slice(0, PIECE_CHARS));
});

test("a secret in the place of a tool's name is told and stored by no half", async () => {
  const { world } = watched(tool(async () => says("hi")));
  const outcome = await world.call({}, { tool: acrossCut(64, 10), path: "http" });
  const asked = { tool: acrossCut(64, 10), callId: "c9", params: {}, context: OWNER, path: "pi" } as const;
  const admitted = await world.gate.admit(asked, new AbortController().signal);
  expect(JSON.stringify([outcome, admitted, world.rows])).not.toContain(SECRET.slice(0, PIECE_CHARS));
});

test("names and reasons of rejected calls are cut between secrets", async () => {
  const { world } = watched(tool(async () => says("hi")));
  const events: unknown[] = [];
  world.events.on("tool_execution_end", (event) => void events.push(event));
  const names = { tool: acrossCut(128, 10), callId: acrossCut(128, 20), because: acrossCut(600, 15) };
  world.gate.recordRejected({ ...names, params: {}, path: "pi", context: OWNER, reason: "refused_by_agent" });
  await world.gate[Symbol.asyncDispose]();
  expect(JSON.stringify(world.rows)).toContain("xxxx");
  expect(JSON.stringify([world.rows, events])).not.toContain(SECRET.slice(0, PIECE_CHARS));
});
