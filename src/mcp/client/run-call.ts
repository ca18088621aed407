/** One call of a tool of an MCP server: within its time, with progress, with questions for the person it is for, and its result made readable. */
import type { Tool } from "../../contracts/tools/tool.ts";
import type { Questions } from "../../contracts/channels/question.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import { durationText } from "../../kit/duration.ts";
import type { Ids } from "../../kit/ids.ts";
import { isObject } from "../../kit/json.ts";
import type { Log } from "../../kit/log.ts";
import { writeOut } from "../../kit/marks/written-out.ts";
import { startCallTime } from "./call-time.ts";
import type { KnownTool } from "./catalog.ts";
import type { Connected, ServerCall } from "./connection.ts";
import { elicit } from "./elicitation.ts";
import { linkedResources, toolResult } from "./results.ts";

export interface RunCallDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly questions: Pick<Questions, "ask">;
  readonly server: string;
  timeoutMs(): number;
  connection(signal: AbortSignal): Promise<Connected>;
  /** The server still describes the tool as it did when the call was let through. */
  isCurrent(tool: KnownTool): boolean;
  /** The call took too long. `since`: when it was sent, as `clock.elapsed()` counts. */
  late(since: number): void;
}

class CallTimeout extends Error {}

/** Of resources that a result links to. */
const MAX_LINKS_READ = 4;
const MAX_PROGRESS_CHARS = 500;

export async function runCall(
  deps: RunCallDeps,
  tool: KnownTool,
  ...[, params, signal, onUpdate, context]: Parameters<Tool["execute"]>
): ReturnType<Tool["execute"]> {
  const { clock, server } = deps;
  const connection = await deps.connection(signal);
  // the list is read at every start, and this call was judged by the one before
  if (!deps.isCurrent(tool)) throw changed(deps, tool);
  const ms = deps.timeoutMs();
  using time = startCallTime(clock, ms, () => new CallTimeout());
  const until = AbortSignal.any([signal, time.signal]);
  const since = clock.elapsed();
  const call: ServerCall = {
    tool: tool.definition.name,
    params: isObject(params) ? params : {},
    progress: (text) => onUpdate({ content: [{ type: "text", text: writeOut(text.slice(0, MAX_PROGRESS_CHARS)) }] }),
    async elicit(request, asked) {
      using _pause = time.pause();
      return await elicit(deps.questions, { server, request, caller: context }, AbortSignal.any([until, asked]));
    },
  };
  try {
    const result = await orAborted(connection.call(call, until), until);
    const resources = await readLinks(deps, connection, result.content, until);
    return toolResult(deps, { server, ...result, resources });
  } catch (error) {
    if (!(until.reason instanceof CallTimeout)) throw error;
    deps.late(since);
    const say = `${tool.definition.name} of the MCP server ${server} did not finish within ${durationText(ms)}.`;
    throw new GatewayError("tool_timeout", say, { say });
  }
}

function changed({ server }: RunCallDeps, { definition }: KnownTool): GatewayError {
  const say = `The MCP server ${server} has changed or removed ${writeOut(definition.name)} since this call was let through, so it was not run. Call it again; an owner is asked then.`;
  return new GatewayError("tool_failed", say, { say });
}

/** A link that cannot be read stays a link. */
async function readLinks(
  { log, server }: RunCallDeps,
  connection: Connected,
  content: readonly unknown[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const uris = connection.hasResources ? linkedResources(content).slice(0, MAX_LINKS_READ) : [];
  const found = new Map<string, readonly unknown[]>();
  for (const uri of uris) {
    try {
      found.set(uri, await orAborted(connection.read(uri, signal), signal));
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug("resource of an MCP server not read", { server, error: String(error) });
    }
  }
  return found;
}
