/** `tool_search`: finds tools by words where there are too many to offer all of them. What it finds can be called in the same turn. */
import { Type } from "typebox";
import { TOOL_SEARCH, type Tool } from "../../contracts/tools/tool.ts";
import type { ToolFinder } from "../search/find.ts";
import { answer, closed, defineTool, MINUTE_MS } from "./define.ts";

export interface ToolSearchDeps {
  readonly toolFinder: ToolFinder;
}

const USUAL_RESULTS = 5;
const MAX_RESULTS = 10;
const MAX_DESCRIPTION_CHARS = 600;
/** Of all schemas in one answer. What is left out is in the tool itself, which the model gets with its next request. */
const MAX_SCHEMA_CHARS = 16_000;

export function toolSearch({ toolFinder }: ToolSearchDeps): Tool {
  return defineTool({
    name: TOOL_SEARCH,
    label: "Tool search",
    description:
      "Finds more tools by words in their names, descriptions and parameters, best first. Search when no tool you have fits the task. The tools it finds are yours from then on: call them by name.",
    parameters: Type.Object(
      {
        query: Type.String({
          minLength: 1,
          maxLength: 300,
          description: "English words, such as: create calendar event",
        }),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: MAX_RESULTS, description: `How many; default ${USUAL_RESULTS}` }),
        ),
      },
      closed,
    ),
    flags: { idempotent: true, inConversation: true },
    limit: { calls: 60, perMs: MINUTE_MS },
    timeoutMs: 10_000,
    async run({ query, limit = USUAL_RESULTS }, { context }) {
      const { tools, among, switchedOn } = await toolFinder.find(query, limit, context);
      if (tools.length === 0)
        return answer({
          tools: [],
          note: `None of ${among} tools has one of these words. Try other words, in English.`,
        });
      const note = switchedOn ? "You can call them now." : "Call them by name.";
      return answer({ tools: described(tools), note });
    },
  });
}

function described(tools: readonly Tool[]): readonly Readonly<Record<string, unknown>>[] {
  let room = MAX_SCHEMA_CHARS;
  return tools.map(({ name, description, parameters }) => {
    const shown = { name, description: description.slice(0, MAX_DESCRIPTION_CHARS) };
    room -= JSON.stringify(parameters).length;
    return room < 0 ? shown : { ...shown, parameters };
  });
}
