/** Families of MCP methods, and which scope of a key opens each. What is not open to a key is not declared to it, and not there. Pure. */
import type { ApiKey, KeyScope } from "../../contracts/api-keys.ts";

type Family = "tools" | "resources" | "prompts";

/** One of them is enough, and `admin` always is. */
export const FAMILY_SCOPES: Readonly<Record<Family, readonly KeyScope[]>> = {
  tools: ["tools"],
  /** Of sessions that `sees` allows, and one's own notes and files. */
  resources: ["chat", "read"],
  prompts: ["chat"],
};

/** `key` null: the operator, who may use all of them. */
export function opens(key: Pick<ApiKey, "scopes"> | null, family: Family): boolean {
  if (key === null || key.scopes.includes("admin")) return true;
  return FAMILY_SCOPES[family].some((scope) => key.scopes.includes(scope));
}
