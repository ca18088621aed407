/** Who has which role and why, and giving somebody another one. */
import type { CommandContext } from "../command.ts";
import type { Principal, Role } from "../ids.ts";

export interface RoleDirectory {
  /** Why this person has their role here: one sentence each for role, agent and session. */
  why(context: CommandContext): readonly string[];
  /** What the role means for an agent, besides its commands; lines for people. */
  allows(context: CommandContext): readonly string[];
  /** Everybody with a role, and where it comes from. */
  people(): readonly { readonly principal: string; readonly role: Role; readonly from: "configuration" | "chat" }[];
  /** `role` null withdraws what was given. */
  change(asked: {
    readonly principal: string;
    readonly role: Role | null;
    readonly by: Principal;
  }): Promise<RoleChange>;
}

export type RoleChange =
  | { readonly kind: "changed" }
  | { readonly kind: "refused"; readonly because: "not_a_person" | "operator" | "named_in_config" | "last_owner" };
