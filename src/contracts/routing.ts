/** Who speaks to which agent in which session. Pure: same message and config, same verdict. */
import type { InboundMessage } from "./chat.ts";
import type { AgentId, Role, SessionKey } from "./ids.ts";

export interface Router {
  decide(message: RouteFacts): Verdict;
}

/** What routing looks at in a message. */
export type RouteFacts = Pick<InboundMessage, "address" | "scope" | "place" | "sender" | "mentioned" | "agentId">;

export type Verdict =
  | {
      readonly kind: "accept";
      readonly sessionKey: SessionKey;
      readonly agentId: AgentId;
      readonly role: Role;
      readonly priority: number;
      /** Why: one sentence for the role, one for the agent, one for the session. */
      readonly because: readonly string[];
    }
  | {
      readonly kind: "refuse";
      readonly because: string;
      /** `nothing`: the sender is not answered at all. `pairing`: the sender may ask for access. */
      readonly tell: "nothing" | "refusal" | "pairing";
      readonly say: string;
    };
