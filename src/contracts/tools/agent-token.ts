/** How a script inside an agent process proves for whom it acts: by a token that only that process has, and that dies with it. */
import type { ToolContext } from "./tool.ts";

export interface AgentTokens {
  /** For whom the process that has this token works right now; null: for nobody, or there is no such token. */
  resolve(token: string): ToolContext | null;
  /** There is a process with this token, whether it works for somebody or not. */
  known(token: string): boolean;
}
