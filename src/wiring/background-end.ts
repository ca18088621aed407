/** The end of a tool that went on after its turn: news for the conversation that started it, which is woken to hear it. */
import { backgroundEndWords } from "../flow/index.ts";
import type { Log } from "../kit/log.ts";
import { type BackgroundEnd, originOf } from "../tools/index.ts";
import type { Automation } from "./automation.ts";

export interface BackgroundEndDeps {
  readonly log: Log;
  automation(): Pick<Automation, "homes" | "rights" | "systemEvents">;
}

/** Never rejects. Whoever called a tool from outside of chats asks for its end again, with the same call id. */
export async function tellBackgroundEnd({ log, automation }: BackgroundEndDeps, end: BackgroundEnd): Promise<void> {
  const { id, tool, caller } = end;
  const { sessionKey, principal, agentId } = caller;
  const origin = originOf(caller);
  if (origin === "api" || origin === "mcp") return;
  try {
    const { homes, rights, systemEvents } = automation();
    const home = await homes.at(sessionKey);
    // who may no longer come in wakes nobody; what the tool said is then part of the next turn, if there is one
    const role = home && rights.roleOf({ createdBy: principal, role: caller.role, agentId }, home);
    const wake = role ? { wake: { principal, role, words: `(${tool} has something for this conversation.)` } } : {};
    const event = { id: `tool:${id}`, sessionKey, source: `tool ${tool}`, kind: "news" } as const;
    const { real, kept } = backgroundEndWords(end);
    await systemEvents.put({ ...event, text: kept, ...(real === kept ? {} : { real }) }, wake);
  } catch (error) {
    log.warn("end of a background tool not told", { tool, toolCallId: id, error });
  }
}
