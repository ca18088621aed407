/** Who may use a command. */
import type { Role } from "../contracts/ids.ts";

export const EVERYONE: readonly Role[] = ["guest", "member", "owner"];
export const MEMBERS: readonly Role[] = ["member", "owner"];
export const OWNERS: readonly Role[] = ["owner"];
