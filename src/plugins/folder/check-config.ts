/** The settings of one plugin against the schema in its manifest. Pure. */
import type { PluginManifest } from "../../contracts/plugin.ts";
import { type Secret, secret } from "../../kit/secret.ts";

type CheckedConfig =
  | { readonly ok: true; readonly config: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly why: string; readonly problems: readonly SettingProblem[] };

/** One wrong setting. `path` begins behind `plugins.config.ID`. */
export interface SettingProblem {
  readonly path: readonly string[];
  /** A whole sentence, with the setting's full name. */
  readonly message: string;
}

const MAX_WORDS_CHARS = 300;
const MAX_PROBLEMS = 20;

export function checkPluginConfig(
  manifest: Pick<PluginManifest, "id" | "config">,
  given: Readonly<Record<string, unknown>>,
): CheckedConfig {
  const { id, config: schema } = manifest;
  if (schema === undefined) {
    if (Object.keys(given).length === 0) return { ok: true, config: {} };
    const why = `It takes no settings, but plugins.config.${id} has some.`;
    return { ok: false, why, problems: [{ path: [], message: why }] };
  }
  const config = { ...defaultsOf(schema), ...given };
  try {
    // loaded by the first plugin that has settings, because it would lengthen every start
    const { Compile } = require("typebox/schema") as typeof import("typebox/schema");
    const validator = Compile(schema);
    if (validator.Check(config)) return { ok: true, config };
    const [, errors] = validator.Errors(config);
    const problems = errors.slice(0, MAX_PROBLEMS).map(({ instancePath, message }): SettingProblem => {
      const path = instancePath.split("/").slice(1).map(unescaped);
      const where = ["plugins.config", id, ...path].join(".");
      return { path, message: `${where} ${message}.`.slice(0, MAX_WORDS_CHARS) };
    });
    return { ok: false, why: problems[0]?.message ?? `plugins.config.${id} is not valid.`, problems };
  } catch {
    const why = "The schema of its settings cannot be used."; // the compiler's own words help nobody
    return { ok: false, why, problems: [] };
  }
}

/** A name in a JSON pointer. */
const unescaped = (name: string): string => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** Settings that the schema marks with `secret` reach the plugin wrapped, so that no log and no error can print them by accident. */
export function wrapSecrets(
  { config: schema }: Pick<PluginManifest, "config">,
  config: Readonly<Record<string, unknown>>,
  hide: (secret: Secret) => unknown,
): Readonly<Record<string, unknown>> {
  const properties = schema?.["properties"];
  if (typeof properties !== "object" || properties === null) return config;
  const marked = new Map(Object.entries(properties));
  const wrapped = (key: string, value: unknown): unknown => {
    const below: unknown = marked.get(key);
    const isMarked = typeof below === "object" && below !== null && "secret" in below && below.secret === true;
    if (!isMarked || typeof value !== "string") return value;
    const made = secret(value);
    hide(made);
    return made;
  };
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, wrapped(key, value)]));
}

function defaultsOf(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = schema["properties"];
  if (typeof properties !== "object" || properties === null) return {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, below]: [string, unknown]) =>
      typeof below === "object" && below !== null && "default" in below ? [[key, below.default]] : [],
    ),
  );
}
