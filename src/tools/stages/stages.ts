/** The way of every call, in order, whatever wire it came over. What is not in this list is not checked; what is in it is checked for everyone. */
import type { ToolRefusal } from "../../contracts/tools/tool.ts";
import { expectation } from "../../kit/schema/expectation.ts";
import { foundValue, wrongValue } from "../../kit/schema/problem.ts";
import { durationText } from "../../kit/duration.ts";
import { isObject } from "../../kit/json.ts";
import { limitOf, needsApproval } from "../policy.ts";
import type { Problem } from "../schema/compile.ts";
import { emptyRequired } from "../schema/values/required-text.ts";
import { paramsHash } from "./params-hash.ts";
import { harmfulConversion } from "./conversions.ts";
import { askHooks } from "./tool-hooks.ts";
import { knownParams } from "./names.ts";
import { scrubJson } from "../audit/scrub-json.ts";
import { ruledCall } from "../rules/ruled-call.ts";
import { checkPermission } from "./rights.ts";
import { type Draft, isRefusal, refuse, type Stage, type StageDeps } from "./stage.ts";

const MAX_PARAMS_CHARS = 256 * 1024;
const BUSY_RETRY_MS = 5_000;
const MS_PER_SECOND = 1_000;
/** An approval that was given before for the whole session comes within this. */
const AT_ONCE_MS = 50;

export const STAGES: readonly Stage[] = [
  { name: "size", judge: (_deps, draft) => checkSize(draft) },
  { name: "profile", judge: (deps, draft) => checkPermission(deps, draft) },
  { name: "names", judge: (_deps, draft) => checkNames(draft) },
  { name: "hooks", judge: askHooks },
  { name: "schema", judge: (_deps, draft) => checkSchema(draft) },
  { name: "permission", judge: (deps, draft) => checkPermission(deps, draft) }, // again: a hook may take long, and rules may change meanwhile
  { name: "approval", judge: askOwner },
  { name: "rate", judge: checkRate },
  { name: "slot", judge: takeSlot },
];

function checkSize(draft: Draft): Draft | ToolRefusal {
  const chars = (JSON.stringify(draft.params) ?? "").length;
  if (chars <= MAX_PARAMS_CHARS) return draft;
  return refuse("invalid_params", `The parameters are larger than ${MAX_PARAMS_CHARS} characters. Send less.`);
}

/** Of pi tools, what its rules about files read: under one name, or not at all. */
const PI_PARAMETERS = { properties: { path: {} } };

function checkNames(draft: Draft): Draft | ToolRefusal {
  const { asked = draft.params } = draft.request;
  const harm = draft.usable ? null : harmfulConversion(asked, draft.params);
  if (harm !== null) return notValid(draft, `- ${harm}`);
  const made = knownParams(draft.params, draft.usable?.tool.parameters ?? PI_PARAMETERS);
  if (made.ok) return asObject(coerced({ ...draft, params: made.params }));
  const { given, known } = made;
  return refuse("invalid_params", `${given} and ${known} are the same parameter. Give only ${known}.`);
}

/** Before hooks, which read parameters by name. */
function asObject(draft: Draft): Draft | ToolRefusal {
  const { params } = draft;
  return isObject(params)
    ? draft
    : notValid(draft, `- parameters: ${wrongValue(foundValue(params), expectation({ type: "object" }))}`);
}

/** Before hooks and again after them: policy, hooks and tool read the same value. */
function coerced(draft: Draft): Draft {
  return draft.usable ? { ...draft, params: draft.usable.coerce(draft.params) } : draft;
}

/** As it came where the defaults themselves do not fit: some authors write null for "nothing". */
function withDefaults(draft: Draft): Draft {
  if (!draft.usable) return draft;
  const params = draft.usable.withDefaults(draft.params);
  return params === draft.params || !draft.usable.check(params).ok ? draft : { ...draft, params };
}

function checkSchema(draft: Draft): Draft | ToolRefusal {
  const filled = withDefaults(coerced(draft));
  const fits = checkSize(filled); // a hook may have made them larger
  const problems = problemsOf(filled);
  if (problems.length === 0) return fits;
  const found = problems.map(({ path, message }) => `- ${path || "parameters"}: ${message}`);
  return notValid(draft, found.join("\n"));
}

function notValid({ tool }: Draft, found: string): ToolRefusal {
  return refuse("invalid_params", `The parameters of ${tool.name} are not valid:\n${found}`);
}

function problemsOf({ usable, params }: Draft): readonly Problem[] {
  if (!usable) return [];
  const judged = usable.check(params);
  return judged.ok ? emptyRequired(usable.tool.parameters, params) : judged.problems;
}

async function askOwner(deps: StageDeps, draft: Draft, signal: AbortSignal): Promise<Draft | ToolRefusal> {
  const outside = draft.request.asks?.(draft.params) ?? null;
  const { review } = draft.tool;
  const reason = review?.because ?? draft.askBecause ?? needsApproval(draft.tool, deps.policy(), outside?.because);
  if (reason === null) return draft;
  const { mask } = deps;
  const because = mask.text(reason); // a plugin's words, for owners to read
  const { request } = draft;
  const { name: tool, flags } = draft.tool;
  const params = structuredClone(draft.params); // a plugin may still hold what it was shown: what is approved is what runs
  await draft.record.waits({ tool, params, idempotent: flags.idempotent });
  using unanswered = deps.clock.deadline(AT_ONCE_MS, () => new Error("the owner thinks about it"));
  const say = `${tool} waits for the owner's approval: ${because}.`;
  unanswered.signal.addEventListener("abort", () => draft.onWaiting(say), { once: true });
  const { sessionKey, principal, agentId } = request.context;
  const hash = paramsHash(`${tool}\n${sessionKey}\n${principal}\n${agentId}`, params);
  const question = {
    tool,
    callId: mask.text(request.callId),
    caller: request.context,
    because,
    shown: scrubJson(params, deps.scrub),
    hash,
    ...(review ? { anew: true as const } : { ruled: ruledCall(draft, params, because) }),
    ...(outside ? { covers: `${tool} ${outside.folder}` } : {}),
  };
  const askedAt = deps.clock.elapsed();
  const answer = await deps.approvals.ask(question, signal);
  signal.throwIfAborted();
  if (answer === "once" || answer === "session") {
    review?.accepted();
    return checkPermission(deps, { ...draft, params }); // rules may have changed meanwhile
  }
  if (answer === "full")
    return refuse("rate_limited", `${tool} was not run. Too many calls wait for the owner already.`, BUSY_RETRY_MS);
  return refuse("approval_denied", `${tool} was not run. ${notApproved(answer, deps.clock.elapsed() - askedAt)}`);
}

function notApproved(answer: "deny" | "expired", waitedMs: number): string {
  if (answer === "deny") return "The owner did not approve it. Do not try the same call again.";
  const waited = durationText(waitedMs);
  return `Nobody answered within ${waited}. Do not try the same call again by yourself: tell the person that an owner has to allow it, and that they can ask for it again when one is there.`;
}

async function checkRate(deps: StageDeps, draft: Draft): Promise<Draft | ToolRefusal> {
  const limit = limitOf(draft.tool, deps.policy());
  const who = { principal: draft.request.context.principal, tool: draft.tool.name };
  const taken = await deps.rate.take(who, limit);
  if (taken.kind === "ok") return draft;
  const seconds = Math.ceil(taken.retryAfterMs / MS_PER_SECOND);
  const often = `${limit.calls} calls in ${limit.perMs / MS_PER_SECOND} s`;
  return refuse(
    "rate_limited",
    `${draft.tool.name} allows ${often}. Try again in ${seconds} s, not before.`,
    taken.retryAfterMs,
  );
}

/** pi has places of its own for what it runs. */
async function takeSlot(deps: StageDeps, draft: Draft, signal: AbortSignal): Promise<Draft | ToolRefusal> {
  if (!draft.usable) return draft;
  const { context } = draft.request;
  const slot = await deps.slots.take(context.sessionKey, { sequential: draft.tool.flags.sequential ?? false }, signal);
  if (slot) return stillPermitted(deps, { ...draft, slot });
  return refuse("rate_limited", "Too many tools are running. Call fewer at a time.", BUSY_RETRY_MS);
}

/** A place may come after a minute; rights may be gone by then, and the place is given back. */
async function stillPermitted(deps: StageDeps, draft: Draft): Promise<Draft | ToolRefusal> {
  try {
    const judged = await checkPermission(deps, draft);
    if (isRefusal(judged)) draft.slot?.[Symbol.dispose]();
    return judged;
  } catch (error) {
    draft.slot?.[Symbol.dispose]();
    throw error;
  }
}
