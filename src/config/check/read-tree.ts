/**
 * Tree + schema → a checked value with its defaults, and everything that is wrong on the way. Only keys of the schema are ever
 * assigned. Checks are our own walk over the schema, because the words for people need the place and the kind of each value anyway
 * and loading a general validator would cost a quarter of the start; a test holds the verdicts against TypeBox's.
 */
import { secret } from "../../kit/secret.ts";
import { parseDuration } from "../../kit/duration.ts";
import { nearest } from "../../kit/nearest.ts";
import { expectation } from "../../kit/schema/expectation.ts";
import { foundValue, joinPath, missingValue, unknownKey, wrongValue } from "../../kit/schema/problem.ts";
import { HIDDEN, showText } from "./problem.ts";
import { type allKeys, alternativeFor, choicesOf, holdsSecret, recordOf, type SchemaNode } from "../schema-node.ts";
import type { RuleProblem } from "./rule.ts";
import { substitute } from "./substitute.ts";
import type { Entry, ObjectTree, Tree } from "./tree.ts";

/** A problem of the file, before its offset has become a line. */
export interface Finding extends RuleProblem {
  readonly offset: number;
  readonly unknownSection?: true;
}

interface Reading {
  readonly root: SchemaNode;
  /** `allKeys(root)`, made at the first unknown key and kept: most files have none, and a file may have very many. */
  readonly keys: () => ReturnType<typeof allKeys>;
  readonly variables: (name: string) => string | undefined;
  readonly report: (finding: Finding) => void;
  /** Where each written value stands, by dotted path. */
  readonly offsets: Map<string, number>;
  /** Paths whose text came from a variable, wholly or in part. */
  readonly fromVariables: Set<string>;
}

interface Spot {
  readonly schema: SchemaNode;
  readonly path: string;
  /** Inside a section where unknown keys are problems. */
  readonly strict: boolean;
}

/** Stands for a value that was reported; the configuration as a whole is then not used. */
const BROKEN = Symbol("broken");
const EMPTY = "empty";
const PROTOTYPE_KEYS = new Set(["__proto__", "constructor", "prototype"]);

export function readTree(reading: Reading, tree: ObjectTree): unknown {
  const { root } = reading;
  return readObject(reading, { schema: root, path: "", strict: root.security === true }, tree);
}

function readValue(reading: Reading, spot: Spot, tree: Tree): unknown {
  const { schema, path } = spot;
  reading.offsets.set(path, tree.offset);
  if (schema.free && tree.kind === "object") return readFree(reading, spot, tree);
  const meantKind = alternativeFor(schema, tree.kind);
  if (meantKind) return readValue(reading, { ...spot, schema: { expects: expectation(schema), ...meantKind } }, tree);
  if (schema.properties && tree.kind === "object") return readObject(reading, spot, tree);
  if (recordOf(schema) && tree.kind === "object") return readRecord(reading, spot, tree);
  if (schema.type === "array" && tree.kind === "array") return readArray(reading, spot, tree.items, tree.offset);
  if (tree.kind === "text") return readText(reading, spot, tree.value, tree.offset);
  if (tree.kind === "number" || tree.kind === "boolean") {
    return accepts(schema, tree.value)
      ? tree.value
      : wrong(reading, spot, { offset: tree.offset, shown: String(tree.value) });
  }
  const value = { null: null, array: tree.kind === "array" ? tree.items : [], object: {} }[tree.kind];
  return wrong(reading, spot, { offset: tree.offset, shown: foundValue(value) });
}

/** Taken as it is, variables filled in: whose it is checks it. */
function readFree(reading: Reading, spot: Spot, tree: Tree): unknown {
  if (tree.kind === "array") return tree.items.map((item) => readFree(reading, spot, item));
  if (tree.kind === "text") return readText(reading, { ...spot, schema: { type: "string" } }, tree.value, tree.offset);
  if (tree.kind !== "object") return tree.kind === "null" ? null : tree.value;
  const entries = [...tree.entries].filter(([key]) => !PROTOTYPE_KEYS.has(key));
  return Object.fromEntries(entries.map(([key, { value }]) => [key, readFree(reading, spot, value)]));
}

function readObject(reading: Reading, spot: Spot, tree: ObjectTree): unknown {
  const { schema, path } = spot;
  const properties = schema.properties ?? {};
  const out: Record<string, unknown> = {};
  for (const [key, entry] of tree.entries) {
    if (!Object.hasOwn(properties, key)) reportUnknown(reading, spot, key, entry);
  }
  for (const [key, below] of Object.entries(properties)) {
    const entry = tree.entries.get(key);
    const strict = spot.strict || below.security === true;
    const at = { schema: below, path: joinPath(path, key), strict };
    if (entry) out[key] = readValue(reading, at, entry.value);
    else if (schema.required?.includes(key)) out[key] = absentValue(reading, at, tree.offset);
  }
  return out;
}

function absentValue(reading: Reading, spot: Spot, parentOffset: number): unknown {
  const { schema, path } = spot;
  if (schema.properties && schema.default !== undefined) {
    return readObject(reading, spot, { kind: "object", offset: parentOffset, entries: new Map() });
  }
  if (schema.default !== undefined) return structuredClone(schema.default);
  const message = `${path} ${missingValue(expectation(schema))}`;
  reading.report({ severity: "problem", path, offset: parentOffset, message });
  return BROKEN;
}

function readRecord(reading: Reading, spot: Spot, tree: ObjectTree): unknown {
  const record = recordOf(spot.schema);
  const out: Record<string, unknown> = {};
  for (const [key, entry] of record ? tree.entries : []) {
    const path = joinPath(spot.path, key);
    if (PROTOTYPE_KEYS.has(key)) reportUnknown(reading, spot, key, entry);
    else if (record?.pattern.test(key))
      out[key] = readValue(reading, { ...spot, schema: record.value, path }, entry.value);
    else {
      const message = `${path} is not a usable name. Begin with a small letter or a digit, then small letters, digits, _ or -, at most 64 in all.`;
      reading.report({ severity: "problem", path, offset: entry.keyOffset, message });
    }
  }
  return out;
}

function readArray(reading: Reading, spot: Spot, items: readonly Tree[], offset: number): unknown {
  const { schema, path, strict } = spot;
  const { items: below, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (items.length < minItems || items.length > maxItems)
    return wrong(reading, spot, { offset, shown: foundValue(items) });
  return items.map((item, index) =>
    below ? readValue(reading, { schema: below, path: `${path}[${index}]`, strict }, item) : BROKEN,
  );
}

function readText(reading: Reading, spot: Spot, written: string, offset: number): unknown {
  const { schema, path } = spot;
  const result = substitute(written, reading.variables);
  if (result.kind === "unset") {
    const message = `${path} uses \${${result.name}}, but that environment variable is not set. Set it, or write the value here.`;
    reading.report({ severity: "problem", path, offset, message });
    return BROKEN;
  }
  if (result.kind === "malformed") {
    const message = `${path} has "\${" without a variable name and "}" after it. Write "$\${" for a literal "\${".`;
    reading.report({ severity: "problem", path, offset, message });
    return BROKEN;
  }
  if (result.fromVariable) reading.fromVariables.add(path);
  const value = meant(schema, result.text, result.fromVariable);
  if (accepts(schema, value)) return schema.secret ? secret(String(value)) : value;
  if (result.text === "") return wrong(reading, spot, { offset, shown: EMPTY });
  // What a variable holds is never shown: its name is enough, and it may be a secret in the wrong place.
  const choices = choicesOf(schema);
  const suggestion = choices && !result.fromVariable ? nearest(result.text, choices) : null;
  const shown = result.fromVariable ? `${JSON.stringify(written)} from the environment` : showText(written);
  return wrong(reading, spot, { offset, shown, suggestion });
}

/** Text → what it stands for at this key: a duration, or a whole number that could only come as text from a variable. */
function meant(schema: SchemaNode, text: string, fromVariable: boolean): unknown {
  const digits = fromVariable && /^-?[0-9]{1,15}$/.test(text);
  if (schema.duration) return digits ? Number(text) : (parseDuration(text) ?? text);
  return schema.type === "integer" && digits ? Number(text) : text;
}

function accepts(schema: SchemaNode, value: unknown): boolean {
  const choices = choicesOf(schema);
  if (choices) return typeof value === "string" && choices.includes(value);
  if (typeof value === "boolean") return schema.type === "boolean";
  if (typeof value === "number") return acceptsNumber(schema, value);
  if (typeof value !== "string" || schema.type !== "string") return false;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  if (value.length < minLength || value.length > maxLength) return false;
  return pattern === undefined || new RegExp(pattern).test(value);
}

function acceptsNumber(schema: SchemaNode, value: number): boolean {
  const whole = schema.type === "integer" || schema.duration === true;
  if (!whole && schema.type !== "number") return false;
  if (whole ? !Number.isSafeInteger(value) : !Number.isFinite(value)) return false;
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  return value >= minimum && value <= maximum;
}

interface Written {
  readonly offset: number;
  readonly shown: string;
  readonly suggestion?: string | null;
}

function wrong(reading: Reading, spot: Spot, { offset, shown, suggestion = null }: Written): symbol {
  const { schema, path } = spot;
  const value = shown !== EMPTY && holdsSecret(schema) ? HIDDEN : shown;
  reading.report({
    severity: "problem",
    path,
    offset,
    message: `${path} ${wrongValue(value, expectation(schema), suggestion)}`,
    value,
    ...(suggestion === null ? {} : { suggestion }),
  });
  return BROKEN;
}

function reportUnknown(reading: Reading, spot: Spot, key: string, entry: Entry): void {
  const path = joinPath(spot.path, key);
  const suggestion = suggestKey(reading.keys, spot, key);
  // A misspelt security section would silently leave its defaults in place, so it is as bad as a misspelt key inside one.
  const [section = ""] = suggestion?.split(".") ?? [];
  const misspeltSecurity = spot.path === "" && reading.root.properties?.[section]?.security === true;
  const severity = spot.strict || misspeltSecurity ? "problem" : "warning";
  const ignored = severity === "warning" ? " It was ignored." : "";
  reading.report({
    severity,
    path,
    offset: entry.keyOffset,
    message: `${path} ${unknownKey("not a setting", suggestion)}${ignored}`,
    ...(suggestion === null ? {} : { suggestion }),
    ...(spot.path === "" ? { unknownSection: true } : {}),
  });
}

/** The nearest key of the same section, else the nearest of all. */
function suggestKey(keys: Reading["keys"], spot: Spot, key: string): string | null {
  const here = nearest(key, Object.keys(spot.schema.properties ?? {}));
  if (here !== null) return joinPath(spot.path, here);
  const name = nearest(
    key,
    keys().map((one) => one.key),
  );
  return name === null ? null : (keys().find((one) => one.key === name)?.path ?? null);
}
