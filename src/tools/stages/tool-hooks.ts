/** What plugins say to a call before it is judged. Whoever is asked and does not answer in time, or fails, has said no. */
import type { HookAnswers, HookEntry } from "../../contracts/plugin-hooks.ts";
import type { ToolRefusal } from "../../contracts/tools/tool.ts";
import { orAborted } from "../../kit/deferred.ts";
import { misfitOf, type Shape } from "../../kit/schema/shape.ts";
import { type Finished, textOf, withText } from "../run/output.ts";
import { type Draft, refuse, type StageDeps } from "./stage.ts";

const HOOK_MS = 15_000;
const MAX_REASON_CHARS = 500;
/** Any other answer may be a misspelt wish to hide something, so it counts as a failed check. */
const PERSIST_ANSWER: Shape = { type: "object", keys: { output: { shape: { type: "string" }, optional: true } } };

/** In the order of registration; each sees the parameters as the one before left them. */
export async function askHooks(deps: StageDeps, draft: Draft, signal: AbortSignal): Promise<Draft | ToolRefusal> {
  const handlers = await whoDecides(deps, "before_tool_call", signal);
  let now = draft;
  for (const { plugin, handler } of handlers) {
    const { request, tool, params } = now;
    const unchecked = () => refuse("not_allowed", `${tool.name} was not run: ${plugin} could not check it.`);
    const event = { tool: tool.name, callId: request.callId, params, caller: request.context };
    const answer = await asked(deps, plugin, (until) => handler(event, until), signal);
    const said = answer.kind === "said" ? readAnswer(answer.said) : null;
    if (said === null) return unchecked();
    if (said.block !== undefined) return refuse("not_allowed", reasonOf(deps, said.block, plugin));
    const own = ownCopy(said.change ? said.change.params : params);
    if (own === null) return unchecked();
    now = { ...now, params: own.params, ...(said.asks ? { askBecause: `${plugin} wants it` } : {}) };
  }
  return now;
}

/** A plugin that is just being replaced is waited for, but not by a call that is cancelled meanwhile. */
async function whoDecides<H extends "before_tool_call" | "tool_result_persist">(
  { hooks }: Pick<StageDeps, "hooks">,
  name: H,
  signal: AbortSignal,
): Promise<readonly HookEntry<H>[]> {
  const handlers = hooks.deciding(name);
  return handlers instanceof Promise ? orAborted(handlers, signal) : handlers;
}

interface ReadAnswer {
  readonly block?: unknown;
  readonly change?: { readonly params: unknown };
  readonly asks: boolean;
}

const WORDS: readonly string[] = ["block", "params", "requireApproval"];

/** Null: it means something that is not known here, and so it may mean no. What a plugin wants at the same time is all done. */
function readAnswer(said: unknown): ReadAnswer | null {
  if (said === undefined || said === null) return { asks: false };
  if (typeof said !== "object" || Object.keys(said).some((word) => !WORDS.includes(word))) return null;
  const { block, requireApproval, ...rest } = said as Readonly<Record<string, unknown>>;
  return {
    ...(block === undefined || block === false ? {} : { block }),
    ...("params" in rest ? { change: { params: rest["params"] } } : {}),
    asks: requireApproval !== undefined && requireApproval !== false,
  };
}

/** What is checked next is what runs: a plugin may still hold the object it was shown, or gave. Null: it is not data. */
function ownCopy(params: unknown): { readonly params: unknown } | null {
  try {
    return { params: structuredClone(params) };
  } catch {
    return null; // a function, or something of the kind
  }
}

type Answer<T> = { readonly kind: "said"; readonly said: T } | { readonly kind: "failed" };

async function asked<T>(
  { clock, log }: Pick<StageDeps, "clock" | "log">,
  plugin: string,
  ask: (signal: AbortSignal) => T | Promise<T>,
  signal: AbortSignal,
): Promise<Answer<T>> {
  using limit = clock.deadline(HOOK_MS, () => new Error(`no answer within ${HOOK_MS} ms`));
  const until = AbortSignal.any([signal, limit.signal]);
  try {
    return {
      kind: "said",
      said: await orAborted(
        Promise.resolve().then(() => ask(until)),
        until,
      ),
    };
  } catch (error) {
    signal.throwIfAborted();
    log.warn("hook failed", { plugin, error });
    return { kind: "failed" };
  }
}

function reasonOf({ mask }: Pick<StageDeps, "mask">, block: unknown, plugin: string): string {
  const text = typeof block === "string" ? mask.cut(block, MAX_REASON_CHARS) : "";
  return text || `${plugin} does not allow it.`;
}

/** Whether a plugin may want another text to be kept; one that is just being replaced counts. */
export function checksKept({ hooks }: Pick<StageDeps, "hooks">): boolean {
  const handlers = hooks.deciding("tool_result_persist");
  return handlers instanceof Promise || handlers.length > 0;
}

/**
 * The outcome as it is kept: plugins may rewrite its text, and the caller gets the real one all the same. A rewrite that fails keeps nothing.
 * Other errors than the tool's own are sentences of the gateway and stay.
 */
export async function persisted(
  deps: Pick<StageDeps, "clock" | "log" | "hooks">,
  draft: Draft,
  outcome: Finished,
  signal: AbortSignal,
): Promise<Finished> {
  const handlers = await whoDecides(deps, "tool_result_persist", signal);
  const isError = outcome.kind !== "ok";
  if (handlers.length === 0 || (isError && outcome.code !== "tool_failed")) return outcome;
  const before = isError ? outcome.message : textOf(outcome.result);
  let output = before;
  for (const { plugin, handler } of handlers) {
    const { request, tool } = draft;
    const event = { tool: tool.name, callId: request.callId, caller: request.context, output, isError };
    const answer = await asked<HookAnswers["tool_result_persist"]>(
      deps,
      plugin,
      (until) => handler(event, until),
      signal,
    );
    const isRead = answer.kind === "said" && misfitOf(plugin, answer.said ?? {}, PERSIST_ANSWER) === null;
    if (!isRead) output = `[withheld: ${plugin} could not check this result]`;
    else if (answer.said?.output !== undefined) ({ output } = answer.said);
  }
  if (output === before) return outcome;
  return isError ? { ...outcome, message: output } : { kind: "ok", result: withText(outcome.result, output) };
}
