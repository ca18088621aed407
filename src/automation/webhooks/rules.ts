/** Settings of one incoming webhook, whether it is a mapping, `wake` or `agent`. Pure. */
import type { Config } from "../../config/index.ts";
import type { Role } from "../../contracts/ids.ts";
import type { Secret } from "../../kit/secret.ts";

export const WAKE = "wake";
export const AGENT = "agent";

export type WebhookSettings = Config["hooks"];
export type Mapping = WebhookSettings["mappings"][string];

/** One of the secrets that senders sign with. */
export interface SigningKey {
  /** How a sender names it; null: it has no name. */
  readonly id: string | null;
  /** Where it stands in the configuration, for the log. */
  readonly path: string;
  readonly secret: Secret;
}

export interface WebhookRules {
  readonly name: string;
  /** Any of them may have signed. */
  readonly keys: readonly SigningKey[];
  readonly signed: boolean;
  readonly perMinute: number;
  readonly role: Role;
  /** Null: `wake` or `agent`, whose requests say themselves what they want. */
  readonly mapping: Mapping | null;
}

/** Null: there is no such hook. */
export function rulesFor(name: string, hooks: WebhookSettings): WebhookRules | null {
  if (!hooks.enabled) return null;
  const mapping = Object.hasOwn(hooks.mappings, name) ? (hooks.mappings[name] ?? null) : null;
  const common = keysOf("hooks", hooks);
  if (mapping) {
    const own = keysOf(`hooks.mappings.${name}`, mapping);
    return {
      name,
      keys: own.length > 0 ? own : common,
      signed: mapping.signed,
      perMinute: mapping.perMinute ?? hooks.perMinute,
      role: mapping.role ?? hooks.role,
      mapping,
    };
  }
  if (name !== WAKE && name !== AGENT) return null;
  const { perMinute, role } = hooks;
  // the previous secret alone is no reason to sign: it only stands beside another one
  const signed = common.some(({ secret }) => secret !== hooks.previousSecret);
  return { name, keys: common, signed, perMinute, role, mapping: null };
}

/** The role of what a webhook of this name began, by the settings of now; null: webhooks are off. Requests to `agent` may bring names of their own. */
export function webhookRole(hooks: Pick<WebhookSettings, "enabled" | "mappings" | "role">, name: string): Role | null {
  if (!hooks.enabled) return null;
  const mapping = Object.hasOwn(hooks.mappings, name) ? hooks.mappings[name] : undefined;
  return mapping?.role ?? hooks.role;
}

interface Secrets {
  readonly secret?: Secret;
  readonly previousSecret?: Secret;
  readonly keys: Readonly<Record<string, Secret>>;
}

function keysOf(path: string, { secret, previousSecret, keys }: Secrets): readonly SigningKey[] {
  return [
    ...(secret ? [{ id: null, path: `${path}.secret`, secret }] : []),
    ...(previousSecret ? [{ id: null, path: `${path}.previousSecret`, secret: previousSecret }] : []),
    ...Object.entries(keys).map(([id, named]) => ({ id, path: `${path}.keys.${id}`, secret: named })),
  ];
}
