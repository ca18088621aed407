/** The tools that an agent is told of, from those that its caller may use; `tool_search` says where the others come from. */
import type { Caller } from "../../contracts/agent.ts";
import { TOOL_SEARCH, type Tool } from "../../contracts/tools/tool.ts";
import type { ToolPolicy } from "../policy.ts";
import type { UsableTool } from "../registry.ts";
import { chooseTools, sourcesOf } from "./choose.ts";
import type { SessionTools } from "./session-tools.ts";

interface OfferedDeps {
  policy(): Pick<ToolPolicy, "searchAbove">;
  readonly sessionTools: Pick<SessionTools, "of">;
}

type ChooseOffered = (usable: readonly UsableTool[], caller: Caller | null, live: boolean) => Promise<readonly Tool[]>;

export function createOfferedTools({ policy, sessionTools }: OfferedDeps): ChooseOffered {
  const withSources = createSourceNotes();
  return async (usable, caller, live) => {
    const { searchAbove } = policy();
    const tools = usable.map(({ tool, plugin }) => ({ name: tool.name, plugin }));
    const session = caller && usable.length > searchAbove ? await sessionTools.of(caller.sessionKey) : [];
    const { offered, behindSearch } = chooseTools({ tools, session, searchAbove, live });
    const byName = new Map(usable.map(({ tool }) => [tool.name, tool]));
    const chosen = offered.flatMap(({ name }) => byName.get(name) ?? []);
    if (behindSearch.length === 0) return chosen;
    const sources = sourcesOf(tools);
    return chosen.map((tool) => (tool.name === TOOL_SEARCH ? withSources(tool, sources) : tool));
  };
}

/** One object for one text: whoever compares tools compares objects first. */
function createSourceNotes(): (tool: Tool, sources: string) => Tool {
  const made = new WeakMap<Tool, { readonly sources: string; readonly tool: Tool }>();
  return (tool, sources) => {
    const known = made.get(tool);
    if (known?.sources === sources) return known.tool;
    const told = { ...tool, description: `${tool.description} They come from: ${sources}.` };
    made.set(tool, { sources, tool: told });
    return told;
  };
}
