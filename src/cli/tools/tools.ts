/** `pi-gw tools list|call` and `pi-gw tool-calls`: what tools the running gateway has, calling one, and what was called. */
import { GatewayError } from "../../contracts/errors.ts";
import { parseJson } from "../../kit/json.ts";
import { visibleLines } from "../../observe/index.ts";
import { askGateway, printItems, printList, queryOf } from "../ask-gateway.ts";
import { createClient } from "../client.ts";
import { findGateway } from "../state-directory.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, shortText, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

export interface ToolCallFlags extends CommonFlags {
  readonly callId?: string;
}

export interface ToolCallsFlags extends CommonFlags {
  readonly session?: string;
  readonly tool?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
}

/** Longer than any tool may take. */
const CALL_MS = 150_000;
const PARAMS_LIMITS = { maxChars: 1024 * 1024, maxDepth: 64 };
const SHOWN_CHARS = 80;
/** Those of MCP servers are written by others, and can have thousands. */
const MAX_DESCRIPTION_CHARS = 300;

export async function toolsList(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { tools, piTools } = await askGateway(world, flags, (client, signal) =>
    client.ask({ path: "/api/tools" }, signal),
  );
  const ofPi = listOf(piTools).map((tool): Fields => ({ ...recordOf(tool), plugin: "pi" }));
  printItems(world, flags, [...listOf(tools).map(recordOf), ...ofPi], {
    columns: [
      ["TOOL", ({ name }) => textOf(name)],
      ["OF", ({ plugin }) => textOf(plugin)],
      ["FOR", (tool) => (tool["usableBy"] === undefined ? "" : usersText(tool))],
      ["FLAGS", (tool) => flagsOf(tool).join(", ")],
      ["WHAT IT DOES", aboutText],
    ],
    none: "There are no tools.",
  });
  return EXIT_OK;
}

/** "owner, member; agent papers: owner". The default agent is not named. */
function usersText(tool: Fields): string {
  const usableBy = listOf(tool["usableBy"]);
  const origins = listOf(tool["origins"]);
  if (usableBy.length === 0 && origins.length === 1 && origins[0] === "mcp") return "MCP clients";
  const each = usableBy.map(recordOf).map((access) => {
    const roles = listOf(access["roles"]).map(textOf).join(", ");
    const agent = textOf(access["agent"]);
    return agent === "default" ? roles : `agent ${agent}: ${roles}`;
  });
  return each.length === 0 ? "nobody" : each.join("; ");
}

function flagsOf(tool: Fields): readonly string[] {
  const flags = Object.entries(recordOf(tool["flags"])).flatMap(([flag, isSet]) => (isSet === true ? [flag] : []));
  const search = listOf(tool["behindSearch"]).length > 0 ? ["behind tool_search"] : [];
  const asks = textOf(tool["asks"]) === "" ? [] : ["after approval"];
  return [...flags, ...search, ...asks];
}

function aboutText(tool: Fields): string {
  if (tool["status"] === "quarantined") return `quarantined: ${textOf(tool["reason"])}`;
  const notices = listOf(tool["notices"]).map((notice) => ` (${textOf(notice)})`);
  return `${shortText(tool["description"], MAX_DESCRIPTION_CHARS)}${notices.join("")}`;
}

/** `params` as JSON; "-" reads it from the input. */
export async function toolsCall(
  world: CliWorld,
  tool: string,
  params: string | undefined,
  flags: ToolCallFlags,
): Promise<number> {
  const given = parseParams(params === "-" ? await readAll(world.stdin) : (params ?? "{}"));
  const client = createClient(await findGateway(world, flags.home));
  using limit = world.clock.deadline(CALL_MS, () => new Error("The gateway did not answer in time."));
  const body = { tool, params: given, ...(flags.callId === undefined ? {} : { callId: flags.callId }) };
  const answer = await client.ask({ method: "POST", path: "/api/tools/call", body }, limit.signal);
  const ok = answer["ok"] === true;
  if (flags.json) world.stdout(`${JSON.stringify(answer)}\n`);
  else if (ok) world.stdout(`${visibleLines(resultText(recordOf(answer["result"])))}\n`);
  else world.stderr(`${visibleLines(textOf(recordOf(answer["error"])["message"]))}\n`);
  return ok ? EXIT_OK : EXIT_FAILED;
}

function parseParams(text: string): unknown {
  const parsed = parseJson(text, PARAMS_LIMITS);
  if (parsed.ok) return parsed.value;
  throw new GatewayError("bad_request", "the parameters are not JSON", {
    say: `The parameters are not JSON. Write them like this: pi-gw tools call NAME '{"text":"hi"}'`,
  });
}

async function readAll(input: CliWorld["stdin"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of input) text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  return text;
}

function resultText(result: Fields): string {
  const blocks = listOf(result["content"]).map(recordOf);
  return blocks.map((block) => (block["type"] === "text" ? textOf(block["text"]) : "[image]")).join("\n");
}

export function toolCalls(world: CliWorld, flags: ToolCallsFlags): Promise<number> {
  const { session, tool, status, since, until, limit } = flags;
  return printList(world, flags, `/api/tool-calls?${queryOf({ session, tool, status, since, until, limit })}`, {
    columns: [
      ["AT", ({ createdAt }) => new Date(numberOf(createdAt)).toISOString()],
      ["END", (row) => textOf(row["status"])],
      ["TOOL", (row) => textOf(row["tool"])],
      ["TIME", ({ executionTimeMs: ms }) => (ms === null ? "" : `${numberOf(ms)} ms`)],
      ["FOR", ({ userId }) => textOf(userId)],
      ["FROM", ({ origin }) => textOf(origin)],
      ["INPUT", ({ input }) => shortText(JSON.stringify(input), SHOWN_CHARS)],
    ],
    none: "No tool was called.",
  });
}
