/** Who speaks to which agent in which session. Pure: same message and config, same verdict. */
import type { InboundMessage } from "./chat.ts";
import type { AgentId, Role, SessionKey } from "./ids.ts";

export interface Router {
  decide(message: InboundMessage): Verdict;
}

export type Verdict =
  | {
      readonly kind: "accept";
      readonly sessionKey: SessionKey;
      readonly agentId: AgentId;
      readonly role: Role;
      readonly priority: number;
    }
  | { readonly kind: "refuse"; readonly because: string; readonly say: string };
