/** Rights are asked at each step of a call, never remembered: a person, a role or a tool may be taken away while a call waits. */
import type { ToolContext, ToolRefusal } from "../../contracts/tools/tool.ts";
import { mayUse } from "../policy.ts";
import { type Draft, refuse, type StageDeps } from "./stage.ts";

export const LOST = "Whoever asked for this may not use the gateway any more. Nothing was run; end the turn.";
const CHANGED = "What its caller may do has changed while the call waited. Nothing was run.";

/** The caller as of now: the same object as long as nothing has changed, because tools are made for it. */
export async function contextNow({ rights }: Pick<StageDeps, "rights">, context: ToolContext) {
  const now = await rights.now(context);
  if (now.kind === "lost") return refuse("not_allowed", LOST);
  return now.role === context.role ? context : { ...context, role: now.role };
}

/** For a call that is on its way. A tool may be made for one role, so that another one means another call. */
export async function checkPermission(deps: StageDeps, draft: Draft): Promise<Draft | ToolRefusal> {
  const { context } = draft.request;
  const now = await contextNow(deps, context);
  if ("kind" in now) return now;
  if (now.role !== context.role) return refuse("not_allowed", CHANGED);
  const verdict = mayUse(draft.tool, context, deps.policy());
  if (verdict.may) return draft;
  return refuse("not_allowed", `${draft.tool.name} may not be used here: ${verdict.because}.`);
}

/** For a call that runs: aborts when its caller may not make it any more. */
export function watchPermission(deps: StageDeps, draft: Draft): Disposable & { readonly signal: AbortSignal } {
  const gone = new AbortController();
  const check = async (): Promise<void> => {
    const judged = await checkPermission(deps, draft);
    if ("kind" in judged) gone.abort(new Error(judged.message));
  };
  const watching = deps.rights.onChange(() => {
    check().catch((error: unknown) => {
      deps.log.error("rights of a running call could not be checked; it is stopped", { tool: draft.tool.name, error });
      gone.abort(error);
    });
  });
  return { signal: gone.signal, [Symbol.dispose]: () => watching[Symbol.dispose]() };
}
