/** What changed between two configurations and what that means for a running gateway. Compares secrets without showing them. */
import { joinPath } from "../kit/schema/problem.ts";
import { isSecret } from "../kit/secret.ts";
import { coversEverything, type Reach, reachOf } from "./check/address.ts";
import type { Config } from "./schema.ts";

export interface ConfigDiff {
  /** Dotted paths of the settings whose value is another one now. */
  readonly changed: readonly string[];
  /** Those of them that a running gateway cannot take over. */
  readonly needsRestart: readonly string[];
  /** The new configuration is easier to get into; a running gateway must not take it over by itself. */
  readonly weakensAuth: boolean;
}

/** The port and the database are opened once; everything else takes effect while the gateway runs. */
export const NEEDS_RESTART: readonly string[] = [
  "gateway.port",
  "gateway.bind",
  "store.url",
  "store.secret",
  "store.files",
];

/** Whether a setting, or the group around it, takes effect at the next start only. */
export function needsRestart(path: string): boolean {
  return NEEDS_RESTART.some((one) => path === one || path.startsWith(`${one}.`));
}

export function diffConfig(before: Config, after: Config): ConfigDiff {
  const changed: string[] = [];
  collectChanges({ before, after, path: "" }, changed);
  return {
    changed,
    needsRestart: changed.filter(needsRestart),
    weakensAuth: weakens(before.gateway, after.gateway) || weakensHooks(before.hooks, after.hooks),
  };
}

/** Nothing in them differs, secrets included. */
export function sameSettings(before: unknown, after: unknown): boolean {
  if ((before === null) !== (after === null)) return false; // off is not the same as on without any settings
  const changed: string[] = [];
  collectChanges({ before, after, path: "" }, changed);
  return changed.length === 0;
}

interface Pair {
  readonly before: unknown;
  readonly after: unknown;
  readonly path: string;
}

function collectChanges({ before, after, path }: Pair, changed: string[]): void {
  const left = groupOf(before);
  const right = groupOf(after);
  if (!left && !right) {
    if (!same(before, after)) changed.push(path);
    return;
  }
  const keys = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  if (keys.size === 0 && !(left && right)) changed.push(path); // to name a group without a setting may allow something
  for (const key of keys) {
    collectChanges({ before: left?.[key], after: right?.[key], path: joinPath(path, key) }, changed);
  }
}

function groupOf(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isSecret(value)) return null;
  return Object.fromEntries(Object.entries(value));
}

/** A changed list is one change: its entries have no names of their own. They are not compared as text, in which all secrets look alike. */
function same(before: unknown, after: unknown): boolean {
  if (isSecret(before) && isSecret(after)) return before.reveal() === after.reveal();
  if (Array.isArray(before) && Array.isArray(after))
    return before.length === after.length && before.every((entry, at) => sameSettings(entry, after[at]));
  return before === after;
}

/** Some webhook takes unsigned what had to be signed. */
function weakensHooks(before: Config["hooks"], after: Config["hooks"]): boolean {
  if (!before.enabled || !after.enabled) return false;
  if (signs(before) && !signs(after)) return true;
  return Object.entries(before.mappings).some(([name, { signed }]) => signed && after.mappings[name]?.signed === false);
}

const signs = ({ secret, keys }: Config["hooks"]): boolean => secret !== undefined || Object.keys(keys).length > 0;

type Gateway = Config["gateway"];

const REACH_ORDER: readonly Reach[] = ["loopback", "one", "all"];

function weakens(before: Gateway, after: Gateway): boolean {
  const reach = (gateway: Gateway) => REACH_ORDER.indexOf(reachOf(gateway.bind));
  const believesAll = (gateway: Gateway) => gateway.trustedProxies.some(coversEverything);
  return (
    (before.auth.token !== undefined && after.auth.token === undefined) ||
    (before.auth.password !== undefined && after.auth.password === undefined) ||
    (!before.insecure && after.insecure) ||
    reach(after) > reach(before) ||
    (!believesAll(before) && believesAll(after))
  );
}
