/** Finds tools by words among those that the caller may use, and switches them on for its session. */
import type { Caller } from "../../contracts/agent.ts";
import { NO_TURN, TOOL_SEARCH, type Tool } from "../../contracts/tools/tool.ts";
import type { ToolIndex, ToolText } from "../../contracts/tools/tool-index.ts";
import type { UsableTool } from "../registry.ts";
import type { SessionTools } from "./session-tools.ts";
import { queryWords, toolText } from "./tool-text.ts";

export interface ToolFinder {
  /** Best first. Stored before it resolves. */
  find(query: string, limit: number, caller: Caller): Promise<FoundTools>;
}

interface FoundTools {
  readonly tools: readonly Tool[];
  /** How many this caller may use in all. */
  readonly among: number;
  /** False: whoever asks has no session in which they could be called. */
  readonly switchedOn: boolean;
}

interface FinderDeps {
  /** All that this caller may use, by the same decision as everywhere. */
  usable(caller: Caller): readonly UsableTool[];
  readonly index: ToolIndex;
  readonly sessionTools: Pick<SessionTools, "switchOn">;
}

export function createToolFinder({ usable, index, sessionTools }: FinderDeps): ToolFinder {
  const texts = new WeakMap<Tool, ToolText>();
  const textOf = ({ tool, plugin }: UsableTool): ToolText => {
    const text = texts.get(tool) ?? toolText(tool, plugin);
    texts.set(tool, text);
    return text;
  };
  return {
    async find(query, limit, caller) {
      const all = usable(caller).filter(({ tool }) => tool.name !== TOOL_SEARCH);
      const byText = new Map(all.map((one) => [textOf(one), one.tool]));
      const ranked = index.search([...byText.keys()], queryWords(query), limit);
      const exact = all.flatMap(({ tool }) => (tool.name === query.trim() ? [tool] : []));
      const tools = [...new Set([...exact, ...ranked.flatMap((text) => byText.get(text) ?? [])])].slice(0, limit);
      const switchedOn = caller.turnId !== NO_TURN;
      if (switchedOn && tools.length > 0) {
        const names = tools.map(({ name }) => name);
        await sessionTools.switchOn(caller.sessionKey, names);
      }
      return { tools, among: all.length, switchedOn };
    },
  };
}
