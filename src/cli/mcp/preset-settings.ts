/** From a preset and what the person gave to the settings of a server. Pure. */
import { isObject } from "../../kit/json.ts";
import type { McpPreset } from "./presets.ts";

type PresetSettings =
  | { readonly kind: "settings"; readonly settings: Readonly<Record<string, unknown>> }
  /** Values that nobody gave, in the order of the preset. */
  | { readonly kind: "missing"; readonly names: readonly string[] };

interface Given {
  /** `--set NAME=VALUE`. */
  readonly set: Readonly<Record<string, string>>;
  /** Names of variables that are in the environment: the settings refer to them, so that no secret is written down. */
  hasVariable(name: string): boolean;
  readonly userHome: string;
}

export function presetSettings({ needs, settings }: McpPreset, { set, hasVariable, userHome }: Given): PresetSettings {
  const values = new Map<string, string>();
  for (const { name, usual } of needs) {
    const value = Object.hasOwn(set, name) ? escaped(set[name] ?? "") : hasVariable(name) ? `\${${name}}` : usual;
    if (value !== undefined) values.set(name, value.replace(/^~(?=\/|$)/, userHome));
  }
  const names = needs.map(({ name }) => name).filter((name) => !values.has(name));
  if (names.length > 0) return { kind: "missing", names };
  return { kind: "settings", settings: filled(settings, values) as Readonly<Record<string, unknown>> };
}

/** A value is text, whatever is in it: the file would read `${` as a variable. */
function escaped(value: string): string {
  return value.replaceAll("${", () => "$${");
}

function filled(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string")
    return value.replace(/\$\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);
  if (Array.isArray(value)) return value.map((one: unknown) => filled(one, values));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, values)]));
}
