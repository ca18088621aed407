/** What somebody may do right now, asked at each call, approval and delivery. Rights at the start of a turn say nothing about its end. */
import type { Caller } from "../agent.ts";
import type { Role } from "../ids.ts";

export interface Rights {
  /** The lesser of what the caller had when the work began and has now. A caller without a turn is judged in the same way. */
  now(caller: RightsHolder): Promise<RightsNow>;
  /** Called when somebody's rights may have changed: configuration, roles, pairing. */
  onChange(listener: () => void): Disposable;
}

/** For whom work is done. */
export type RightsHolder = Pick<Caller, "principal" | "role" | "agentId" | "origin" | "sessionKey" | "turnId"> &
  Partial<Pick<Caller, "scope" | "place" | "askedBy" | "cause">>;

export type RightsNow =
  | { readonly kind: "held"; readonly role: Role }
  | {
      readonly kind: "lost";
      /** For the log: `not_paired`, `unknown_agent`. */
      readonly because: string;
      /** Whether this chat may be told anything at all. */
      readonly tell: boolean;
    };
