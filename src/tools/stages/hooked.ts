/** What plugins say to a call before it is judged. Whoever is asked and does not answer in time, or fails, has said no. */
import type { HookAnswers } from "../../contracts/plugins/hooks.ts";
import type { ToolRefusal } from "../../contracts/tools/tool.ts";
import { orAborted } from "../../kit/deferred.ts";
import { textOf, withText } from "../run/output.ts";
import { type Draft, type Finished, refuse, type StageDeps } from "./stage.ts";

export const HOOK_MS = 15_000;
const MAX_REASON_CHARS = 500;

/** In the order of registration; each sees the parameters as the one before left them. */
export async function hooked(deps: StageDeps, draft: Draft, signal: AbortSignal): Promise<Draft | ToolRefusal> {
  let now = draft;
  for (const { plugin, handler } of deps.hooks.of("before_tool_call")) {
    const { request, facts, params } = now;
    const event = { tool: facts.name, callId: request.callId, params, caller: request.context };
    const answer = await asked(deps, plugin, (until) => handler(event, until), signal);
    if (answer.kind === "failed")
      return refuse("not_allowed", `${facts.name} was not run: ${plugin} could not check it.`);
    const said = answer.said;
    if (said === undefined) continue;
    if ("block" in said) return refuse("not_allowed", reasonOf(said.block, plugin));
    if ("params" in said) now = { ...now, params: said.params };
    else now = { ...now, askBecause: `${plugin} wants it` };
  }
  return now;
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

function reasonOf(block: unknown, plugin: string): string {
  const text = typeof block === "string" ? block.slice(0, MAX_REASON_CHARS) : "";
  return text || `${plugin} does not allow it.`;
}

/** Plugins may rewrite what is kept of a result, which is also what the agent remembers of it. A rewrite that fails keeps nothing. */
export async function persisted(
  deps: Pick<StageDeps, "clock" | "log" | "hooks">,
  draft: Draft,
  outcome: Finished,
  signal: AbortSignal,
): Promise<Finished> {
  const handlers = deps.hooks.of("tool_result_persist");
  if (outcome.kind !== "ok" || handlers.length === 0) return outcome;
  const before = textOf(outcome.result);
  let output = before;
  for (const { plugin, handler } of handlers) {
    const { request, facts } = draft;
    const event = { tool: facts.name, callId: request.callId, caller: request.context, output };
    const answer = await asked<HookAnswers["tool_result_persist"]>(
      deps,
      plugin,
      (until) => handler(event, until),
      signal,
    );
    if (answer.kind === "failed") output = `[withheld: ${plugin} could not check this result]`;
    else if (typeof answer.said?.output === "string") ({ output } = answer.said);
  }
  return output === before ? outcome : { kind: "ok", result: withText(outcome.result, output) };
}
