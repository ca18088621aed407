/**
 * Which of the tools that a caller may use its agent is told of. A few are all told of; of many only the built-in ones and those of the
 * session, and `tool_search` finds the others. What is added comes last, so that providers keep what they have cached. Pure.
 */
import { TOOL_SEARCH } from "../../contracts/tools/tool.ts";

/** Who registers the built-in tools. */
export const BUILT_IN = "gateway";

interface UsableName {
  readonly name: string;
  readonly plugin: string;
}

interface ChoiceQuestion {
  /** All that the caller may use, in the order of registration. */
  readonly tools: readonly UsableName[];
  /** What was found or called in the session, in the order in which it came. */
  readonly session: readonly string[];
  readonly searchAbove: number;
  /** False: the process takes no other tools during a turn. */
  readonly live: boolean;
}

interface ToolChoice {
  readonly offered: readonly OfferedName[];
  /** Those that have to be searched for. */
  readonly behindSearch: readonly string[];
  /** Why there is a search, or none. */
  readonly because: string;
}

interface OfferedName {
  readonly name: string;
  readonly because: "all are offered" | "built in" | "of this session";
}

export function chooseTools({ tools, session, searchAbove, live }: ChoiceQuestion): ToolChoice {
  const others = tools.filter(({ name }) => name !== TOOL_SEARCH);
  const all = (because: string): ToolChoice => ({
    offered: others.map(({ name }) => ({ name, because: "all are offered" })),
    behindSearch: [],
    because,
  });
  if (others.length <= searchAbove) return all(`there are no more than ${searchAbove}`);
  if (others.length === tools.length) return all(`${TOOL_SEARCH} may not be used`);
  if (!live) return all("tools that are found could not be called in the same turn");
  const builtIn = tools.filter(({ plugin }) => plugin === BUILT_IN);
  if (builtIn.length === tools.length) return all("all are built in");
  const brought = new Set(tools.flatMap(({ name, plugin }) => (plugin === BUILT_IN ? [] : [name])));
  const ofSession = [...new Set(session)].filter((name) => brought.has(name));
  for (const name of ofSession) brought.delete(name);
  return {
    offered: [
      ...builtIn.map(({ name }) => ({ name, because: "built in" }) as const),
      ...ofSession.map((name) => ({ name, because: "of this session" }) as const),
    ],
    behindSearch: [...brought],
    because: `there are more than ${searchAbove}`,
  };
}

const MAX_SOURCES_CHARS = 600;

/** Where the tools behind the search come from, for its description: a model looks only for what it knows to be there. */
export function sourcesOf(tools: readonly UsableName[]): string {
  const names = [...new Set(tools.flatMap(({ plugin }) => (plugin === BUILT_IN ? [] : [plugin])))].toSorted();
  const text = names.join(", ");
  return text.length <= MAX_SOURCES_CHARS ? text : `${text.slice(0, MAX_SOURCES_CHARS)} …`;
}
