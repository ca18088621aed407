/** plugin.json: what a plugin says about itself, checked by hand so that each mistake gets a sentence. Pure. */
import type { PluginManifest } from "../../contracts/plugin.ts";
import { isObject, parseJson } from "../../kit/json.ts";
import { nearest } from "../../kit/nearest.ts";
import { wrongKeyword } from "./settings-schema.ts";

type ReadManifest =
  { readonly ok: true; readonly manifest: PluginManifest } | { readonly ok: false; readonly why: string };

export const MANIFEST_FILE = "plugin.json";
export const PLUGIN_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const LIMITS = { maxChars: 64 * 1024, maxDepth: 32 };
const VERSION = /^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.-]{1,64})?$/;
const RANGE = /^(?:\*|(?:>=|<=|>|<|=|\^|~)?\d{1,6}(?:\.\d{1,6}){0,2}(?:-[0-9A-Za-z.-]{1,64})?)$/;
const MAIN = /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[\w./-]{1,200}\.(?:js|mjs|ts)$/;
const KEYS = ["id", "version", "main", "gateway", "description", "config", "$schema"];

export function readManifest(text: string, gatewayVersion: string): ReadManifest {
  const parsed = parseJson(text, LIMITS);
  if (!parsed.ok || !isObject(parsed.value)) return no(`${MANIFEST_FILE} is not a JSON object.`);
  const { id, version, main, gateway, description, config } = parsed.value;
  const unknown = Object.keys(parsed.value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    const close = nearest(unknown, KEYS);
    const hint = close === null ? "" : ` Did you mean ${close}?`;
    return no(`${MANIFEST_FILE} has "${unknown.slice(0, 64)}", which is not a key of it.${hint}`);
  }
  if (!fits(id, PLUGIN_ID)) return no("id must be small letters, digits and dashes, at most 64.");
  if (!fits(version, VERSION)) return no("version must be three numbers such as 1.0.0.");
  if (!fits(main, MAIN)) return no("main must name a .js, .mjs or .ts file inside the folder.");
  if (!fits(gateway, /./)) return no('gateway must say which versions it works with, such as ">=0.1".');
  if (description !== undefined && typeof description !== "string") return no("description must be text.");
  if (config !== undefined && (!isObject(config) || config["type"] !== "object"))
    return no('config must be a JSON Schema with "type": "object".');
  const wrong = config === undefined ? null : wrongKeyword(config);
  if (wrong !== null) return no(wrong);
  if (!inRange(gatewayVersion, gateway))
    return no(`It works with gateway ${gateway.slice(0, 64)}; this is ${gatewayVersion}.`);
  const optional = {
    ...(description === undefined ? {} : { description }),
    ...(config === undefined ? {} : { config }),
  };
  return { ok: true, manifest: { id, version, main, gateway, ...optional } };
}

/** One or several conditions, all of which must hold. A pre-release counts as the version it leads to. */
export function inRange(version: string, range: string): boolean {
  const conditions = range.trim().split(/\s+/);
  const plain = version.replace(/-.*$/, "");
  return conditions.every((condition) => RANGE.test(condition) && Bun.semver.satisfies(plain, condition));
}

function fits(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function no(why: string): ReadManifest {
  return { ok: false, why };
}
