/** The settings of one plugin against the schema in its manifest. Pure. */
import type { PluginManifest } from "../../contracts/plugin.ts";
import { isObject } from "../../kit/json.ts";
import { nearest } from "../../kit/nearest.ts";
import { expectation, type SchemaNode } from "../../kit/schema/expectation.ts";
import { foundValue, joinPath, missingValue, unknownKey, wrongValue } from "../../kit/schema/problem.ts";
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
  const config = Object.fromEntries([...defaultsOf(schema), ...Object.entries(given)]);
  try {
    // loaded by the first plugin that has settings, because it would lengthen every start
    const { Compile } = require("typebox/schema") as typeof import("typebox/schema");
    const validator = Compile(schema);
    if (validator.Check(config)) return { ok: true, config };
    const [, errors] = validator.Errors(config);
    const found = errors.flatMap((error) => explained(error, schema, config));
    const problems = found.slice(0, MAX_PROBLEMS).map(({ path, message }): SettingProblem => {
      const name = path.reduce((parent, key) => joinPath(parent, key), `plugins.config.${id}`);
      return { path, message: `${name} ${message}` };
    });
    return { ok: false, why: problems[0]?.message ?? `plugins.config.${id} is not valid.`, problems };
  } catch {
    const why = "The schema of its settings cannot be used."; // the compiler's own words help nobody
    return { ok: false, why, problems: [] };
  }
}

/** What TypeBox says about one place: it finds the places, the sentences are the gateway's. */
interface FoundError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
}

function explained({ keyword, schemaPath, instancePath, params }: FoundError, schema: SchemaNode, config: unknown) {
  const path = namesOf(instancePath);
  const value = at(config, path);
  const follow = ({ $ref }: SchemaNode) => (typeof $ref === "string" ? nodeAt(schema, $ref) : undefined);
  // of forms to choose from, each says that it does not fit: all of them are named at once
  const node = nodeAt(schema, schemaPath.replace(/\/(?:anyOf|oneOf)\/\d+$/, ""));
  if (keyword === "additionalProperties" || keyword === "anyOf" || keyword === "oneOf") return []; // said about each of its parts
  if (keyword === "required" && "requiredProperties" in params)
    return [params.requiredProperties].flat().map((name) => {
      const expected = expectation(at(node, ["properties", String(name)]) as SchemaNode, follow);
      return { path: [...path, String(name)], message: missingValue(expected) };
    });
  if (keyword === "boolean") {
    const names = Object.keys(
      (nodeAt(schema, schemaPath.replace(/\/[^/]+$/, "")).properties as object | undefined) ?? {},
    );
    return [{ path, message: unknownKey("not a setting of this plugin", nearest(path.at(-1) ?? "", names), names) }];
  }
  const found = typeof value === "string" && node.type === "string" ? null : foundValue(value);
  return [{ path, message: wrongValue(found, expectation(node, follow)) }];
}

/** The names in a JSON pointer, such as `#/properties/a` or `/a/0`. */
function namesOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((held, name) => (held as Record<string, unknown> | undefined)?.[name], value);
}

/** What the validator has named is there. */
const nodeAt = (schema: SchemaNode, pointer: string): SchemaNode => at(schema, namesOf(pointer)) as SchemaNode;

/** Settings that the schema marks with `secret` reach the plugin wrapped, so that no log and no error can print them by accident. */
export function wrapSecrets(
  { config: schema }: Pick<PluginManifest, "config">,
  config: Readonly<Record<string, unknown>>,
  hide: (secret: Secret) => unknown,
): Readonly<Record<string, unknown>> {
  if (!isObject(schema?.properties)) return config;
  const marked = new Map(Object.entries(schema.properties));
  const wrapped = (key: string, value: unknown): unknown => {
    const below = marked.get(key);
    const isMarked = isObject(below) && below.secret === true;
    if (!isMarked || typeof value !== "string") return value;
    const made = secret(value);
    hide(made);
    return made;
  };
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, wrapped(key, value)]));
}

function defaultsOf({ properties }: SchemaNode): readonly [string, unknown][] {
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([key, below]): [string, unknown][] =>
    isObject(below) && "default" in below ? [[key, below.default]] : [],
  );
}
