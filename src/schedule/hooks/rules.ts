/** What the configuration says about one hook, whichever it is. Pure. */
import type { Config } from "../../config/index.ts";
import type { Role } from "../../contracts/ids.ts";

export const WAKE = "wake";
export const AGENT = "agent";

export type HookSettings = Config["hooks"];
export type Mapping = HookSettings["mappings"][string];

export interface HookRules {
  readonly name: string;
  /** Any of them may have signed. */
  readonly keys: readonly string[];
  readonly signed: boolean;
  readonly perMinute: number;
  readonly role: Role;
  /** Null: `wake` or `agent`, whose requests say themselves what they want. */
  readonly mapping: Mapping | null;
}

/** Null: there is no such hook. */
export function rulesFor(name: string, hooks: HookSettings): HookRules | null {
  if (!hooks.enabled) return null;
  const mapping = Object.hasOwn(hooks.mappings, name) ? (hooks.mappings[name] ?? null) : null;
  const common = [hooks.secret, hooks.previousSecret].flatMap((secret) => secret?.reveal() ?? []);
  if (mapping)
    return {
      name,
      keys: mapping.secret ? [mapping.secret.reveal()] : common,
      signed: mapping.signed,
      perMinute: mapping.perMinute ?? hooks.perMinute,
      role: mapping.role ?? hooks.role,
      mapping,
    };
  if (name !== WAKE && name !== AGENT) return null;
  const { perMinute, role } = hooks;
  return { name, keys: common, signed: hooks.secret !== undefined, perMinute, role, mapping: null };
}
