/** Roles that owners gave to people from a chat. The configuration has the last word about whom it names. */
import type { Principal, Role } from "../ids.ts";

export interface RoleGrantStore {
  list(): Promise<readonly RoleGrant[]>;
  /** Replaces what this person was given before; fsynced. */
  put(grant: RoleGrant): Promise<void>;
  /** False: there was none. */
  remove(principal: Principal, by: Principal): Promise<boolean>;
}

export interface RoleGrant {
  readonly principal: Principal;
  readonly role: Role;
  readonly grantedBy: Principal;
  readonly at: number;
}
