/** `prompts/*`, and `completion/complete` for the arguments of prompts and the addresses of resources. */
import {
  type ContentBlock,
  type GetPromptResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from "@modelcontextprotocol/server";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import type { PromptMessage } from "../../contracts/plugin.ts";
import { TRANSCRIPT } from "./addresses.ts";
import { withPlainFailures } from "./failures.ts";
import { pageOf } from "./paging.ts";
import { getPrompt, listPrompts, type PromptDeps } from "./prompts.ts";
import type { ResourceDeps } from "./resources.ts";
import { inRounds, type RoundCall, type RoundDeps } from "./rounds.ts";
import { mediaBlock } from "./tool-forms.ts";

/** As many as the protocol lets through. */
const MAX_VALUES = 100;

export function servePrompts(deps: PromptDeps, rounds: RoundDeps, server: Server, asking: McpAsking): void {
  server.setRequestHandler("prompts/list", ({ params }) => {
    const { items, next } = pageOf(listPrompts(deps, asking), params?.cursor);
    const prompts = items.map(({ arguments: known, ...about }) => ({
      ...about,
      arguments: known.map(({ values: _values, ...argument }) => argument),
    }));
    return { prompts, ...(next === undefined ? {} : { nextCursor: next }) };
  });
  server.setRequestHandler("prompts/get", ({ params }, ctx) => {
    const asked = { name: params.name, given: params.arguments ?? {} };
    const of = `prompts/get ${JSON.stringify([asked.name, asked.given])}`;
    const run = async (call: RoundCall): Promise<GetPromptResult> => {
      const got = await withPlainFailures(deps.mask, () => getPrompt(deps, asking, asked, call));
      if (!got) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${asked.name}.`);
      if ("missing" in got)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The prompt needs the argument ${got.missing}.`);
      const messages = got.messages.map(({ role, content }) => ({ role, content: blockOf(content) }));
      return { description: got.description, messages };
    };
    return inRounds(rounds, server, { asking, of, run }, ctx);
  });
}

function blockOf(content: PromptMessage["content"]): ContentBlock {
  return content.type === "text" || content.type === "image" ? { ...content } : mediaBlock(content);
}

interface CompletionDeps {
  readonly prompts: PromptDeps;
  readonly resources: ResourceDeps;
}

/** What is known of a value while somebody types it: choices of an argument, and keys of sessions. */
export function serveCompletions({ prompts, resources }: CompletionDeps, server: Server, asking: McpAsking): void {
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }) => {
    const known =
      ref.type === "ref/prompt"
        ? argumentValues(prompts, asking, ref.name, argument.name)
        : await withPlainFailures(resources.mask, () => variableValues(resources, asking, ref.uri));
    const fitting = known.filter((value) => value.startsWith(argument.value));
    const values = fitting.slice(0, MAX_VALUES);
    return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } };
  });
}

function argumentValues(deps: PromptDeps, asking: McpAsking, prompt: string, name: string): readonly string[] {
  const found = listPrompts(deps, asking).find((one) => one.name === prompt);
  return found?.arguments.find((one) => one.name === name)?.values ?? [];
}

async function variableValues({ sessions }: ResourceDeps, asking: McpAsking, uri: string): Promise<readonly string[]> {
  if (uri !== TRANSCRIPT) return [];
  const { items } = await sessions.list({ within: asking.reach }, { limit: MAX_VALUES });
  return items.flatMap(({ key }) => (asking.sees(key) ? [key] : []));
}
