/** Looks at a schema before anything is made of it: is it well written, small enough, complete in itself, and safe to run. */
import { isObject } from "../../kit/json.ts";
import {
  is2020,
  isBefore2019,
  malformed,
  type Schema,
  type SchemaNode,
  SINCE_2019,
  subschemasOf,
} from "../../kit/schema/keywords.ts";
import type { CompiledPattern, SafePattern } from "./patterns/pattern.ts";
import { createLeftOut, type LeftOut } from "./patterns/left-out.ts";
import { circleIn, resolveRef } from "./refs.ts";

export const SCHEMA_LIMITS = {
  maxBytes: 128 * 1024,
  maxDepth: 32,
  maxNodes: 3_000,
  maxProperties: 2_000,
  maxPatterns: 100,
  /** Of all patterns together, repetitions written out. */
  maxPatternSize: 10_000,
  maxEnumValues: 5_000,
} as const;

/** Brackets inside brackets: a schema of the largest depth has three for each level, and its enum values have some of their own. */
const MAX_JSON_DEPTH = 3 * SCHEMA_LIMITS.maxDepth + 32;

/** A schema that may be used. */
export interface Inspected {
  /** As it came, in a copy nobody else holds. */
  readonly given: SchemaNode;
  /** Without what its draft does not count. */
  readonly root: SchemaNode;
  readonly refs: ReadonlyMap<SchemaNode, Schema>;
  readonly patterns: ReadonlyMap<string, SafePattern>;
  /** What the checks leave out, one sentence for each. */
  readonly notices: readonly string[];
  /** `given` without patterns that no agent could read either; null: it has none. */
  readonly withoutBroken: SchemaNode | null;
}

type Inspection =
  { readonly kind: "ok"; readonly inspected: Inspected } | { readonly kind: "quarantined"; readonly because: string };

type CompilePattern = (source: string) => CompiledPattern;

interface Survey {
  readonly compilePattern: CompilePattern;
  readonly given: SchemaNode;
  readonly root: SchemaNode;
  readonly nodes: Map<SchemaNode, string>;
  readonly anchors: Map<string, SchemaNode>;
  readonly refs: Map<SchemaNode, Schema>;
  readonly patterns: Map<string, SafePattern>;
  readonly left: LeftOut;
  readonly counts: { properties: number; enumValues: number; patternSize: number };
}

export function inspect(schema: unknown, compilePattern: CompilePattern): Inspection {
  const copy = copyOf(schema);
  if (typeof copy === "string") return quarantined(copy);
  const survey: Survey = {
    ...copy,
    compilePattern,
    nodes: new Map(),
    anchors: new Map(),
    refs: new Map(),
    patterns: new Map(),
    left: createLeftOut(),
    counts: { properties: 0, enumValues: 0, patternSize: 0 },
  };
  const problem =
    rootProblem(copy.root) ??
    walk(survey, copy.root, "", 0) ??
    link(survey) ??
    unsupported(survey) ??
    survey.left.loosen(survey.nodes.keys());
  if (problem !== null) return quarantined(problem);
  const { given, root, refs, patterns, left } = survey;
  const withoutBroken = left.withoutBroken(given);
  return { kind: "ok", inspected: { given, root, refs, patterns, notices: left.notices(), withoutBroken } };
}

const quarantined = (because: string): Inspection => ({ kind: "quarantined", because });

const TOO_LARGE = `The schema is larger than ${SCHEMA_LIMITS.maxBytes / 1024} KiB.`;
const TOO_DEEP = `The schema is nested more than ${SCHEMA_LIMITS.maxDepth} levels deep.`;

/** By way of its text, so that what is checked later is what was looked at now, and nothing but data. */
function copyOf(schema: unknown): Pick<Inspected, "given" | "root"> | string {
  if (!isObject(schema)) return "The schema is not an object.";
  const excess = excessOf(schema, { room: SCHEMA_LIMITS.maxBytes }, MAX_JSON_DEPTH);
  if (excess !== null) return excess;
  const text = textOf(schema);
  if (text === null) return "The schema cannot be written as JSON.";
  if (Buffer.byteLength(text) > SCHEMA_LIMITS.maxBytes) return TOO_LARGE;
  const root: unknown = JSON.parse(text);
  return isObject(root) ? { root, given: JSON.parse(text) } : "The schema is not an object.";
}

/** Looked at before it is written as text, which for an object without end would take seconds or all memory. */
function excessOf(value: unknown, left: { room: number }, levels: number): string | null {
  left.room -= typeof value === "string" ? value.length : 1;
  if (left.room < 0) return TOO_LARGE;
  if (typeof value !== "object" || value === null) return null;
  if (levels === 0) return TOO_DEEP;
  for (const part of Object.values(value)) {
    const excess = excessOf(part, left, levels - 1);
    if (excess !== null) return excess;
  }
  return null;
}

function textOf(schema: SchemaNode): string | null {
  try {
    return JSON.stringify(schema) ?? null;
  } catch {
    return null; // it holds something that JSON has no word for
  }
}

/** Providers refuse a whole request when one of its tools has these at the top, so one such tool would silence the agent. */
const NOT_AT_THE_TOP = ["anyOf", "oneOf", "allOf", "enum", "not"];

function rootProblem(root: SchemaNode): string | null {
  if (root.type !== "object") return 'The schema must be of type "object" at the top, because parameters have names.';
  const refused = NOT_AT_THE_TOP.find((keyword) => Object.hasOwn(root, keyword));
  return refused === undefined ? null : `${refused} stands at the top of the schema, where model providers refuse it.`;
}

/** Each node once; what a $ref leads to outside the usual places is walked when the reference is followed. */
function walk(survey: Survey, node: SchemaNode, path: string, depth: number): string | null {
  if (survey.nodes.has(node)) return null;
  if (depth > SCHEMA_LIMITS.maxDepth) return TOO_DEEP;
  survey.nodes.set(node, path);
  forgetWhatDoesNotCount(survey.root, node);
  const wrong = malformed(node) ?? misplaced(survey.root, node);
  if (wrong !== null) return `${placed(path)}${wrong}.`;
  const own = count(survey, node) ?? anchor(survey, node) ?? pattern(survey, node, path);
  if (own !== null) return own;
  for (const { keyword, at, schema } of subschemasOf(node)) {
    if (!isObject(schema)) continue;
    const below = `${path}/${keyword}${at === null ? "" : `/${at}`}`;
    const problem = walk(survey, schema, below, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}

const placed = (path: string): string => (path === "" ? "" : `At ${path.slice(1)}: `);

/** Removes what the schema's own draft does not know; the copy is ours. */
function forgetWhatDoesNotCount(root: SchemaNode, node: SchemaNode): void {
  if (!isBefore2019(root)) return;
  const own = node as Record<string, unknown>;
  for (const keyword of SINCE_2019) delete own[keyword];
  if (typeof node.$ref !== "string") return;
  const kept = ["$ref", "$defs", "definitions", "$schema", "$id"];
  for (const keyword of Object.keys(own)) if (!kept.includes(keyword) && node !== root) delete own[keyword];
}

function misplaced(root: SchemaNode, node: SchemaNode): string | null {
  if (is2020(root) && Array.isArray(node.items))
    return "items must be a schema; a list of schemas is called prefixItems";
  const dynamic = ["$dynamicRef", "$recursiveRef"].find((keyword) => Object.hasOwn(node, keyword));
  if (dynamic !== undefined) return `${dynamic} is not supported; use $ref`;
  // the validator below would hold it against lists, which it says nothing about
  if (Object.hasOwn(node, "unevaluatedProperties") && node.type !== "object")
    return 'unevaluatedProperties needs "type": "object" beside it';
  const moves = node !== root && typeof node.$id === "string" && !node.$id.startsWith("#");
  return moves && JSON.stringify(node).includes('"$ref"') ? "$id and $ref together are not supported here" : null;
}

function count({ nodes, counts }: Survey, node: SchemaNode): string | null {
  const { maxNodes, maxProperties, maxEnumValues } = SCHEMA_LIMITS;
  counts.properties += Object.keys(node.properties ?? {}).length;
  counts.enumValues += Array.isArray(node.enum) ? node.enum.length : 0;
  if (nodes.size > maxNodes) return `The schema has more than ${maxNodes} parts.`;
  if (counts.properties > maxProperties) return `The schema has more than ${maxProperties} properties.`;
  return counts.enumValues > maxEnumValues ? `The schema lists more than ${maxEnumValues} values.` : null;
}

function anchor({ anchors }: Survey, node: SchemaNode): string | null {
  const legacy = typeof node.$id === "string" && node.$id.startsWith("#") ? node.$id.slice(1) : undefined;
  const name = typeof node.$anchor === "string" ? node.$anchor : legacy;
  if (name === undefined) return null;
  if (anchors.has(name)) return `Two places in the schema are called ${name}.`;
  anchors.set(name, node);
  return null;
}

/** A pattern that cannot be run is left out of the checks; the tool that has it is still worth having. */
function pattern({ patterns, counts, compilePattern, left }: Survey, node: SchemaNode, path: string): string | null {
  const { maxPatterns, maxPatternSize } = SCHEMA_LIMITS;
  const sources = [
    ...(typeof node.pattern === "string" ? [node.pattern] : []),
    ...Object.keys(node.patternProperties ?? {}),
  ];
  for (const source of sources) {
    if (patterns.has(source)) continue;
    if (patterns.size === maxPatterns) return `The schema has more than ${maxPatterns} patterns.`;
    const compiled = compilePattern(source);
    if (compiled.kind === "refused") {
      const sentence = `${placed(path)}the pattern ${shortened(source)} ${compiled.because}`;
      left.add(node, { source, sentence, isBroken: compiled.isBroken });
      continue;
    }
    patterns.set(source, compiled.pattern);
    counts.patternSize += compiled.pattern.size;
    if (counts.patternSize > maxPatternSize) return "The patterns of the schema are too large together.";
  }
  return null;
}

const MAX_SHOWN_CHARS = 80;
const shortened = (source: string): string =>
  source.length > MAX_SHOWN_CHARS ? `${source.slice(0, MAX_SHOWN_CHARS)}…` : source;

/** Follows every reference, also those in places that only a reference makes part of the schema. */
function link(survey: Survey): string | null {
  for (const [node, path] of survey.nodes) {
    if (typeof node.$ref !== "string") continue;
    const resolved = resolveRef(survey.root, node.$ref, survey.anchors);
    if (resolved.kind === "refused") return `${placed(path)}$ref ${shortened(node.$ref)} ${resolved.because}.`;
    survey.refs.set(node, resolved.target);
    const problem = isObject(resolved.target) ? walk(survey, resolved.target, node.$ref.slice(1), 1) : null;
    if (problem !== null) return problem;
  }
  if (survey.refs.size === 0) return null;
  const circle = circleIn(survey.nodes.keys(), survey.refs);
  return circle && `${placed(survey.nodes.get(circle) ?? "")}$ref leads back to itself without an end.`;
}

/** The one pair of keywords that our way of running patterns cannot serve together. */
function unsupported({ nodes }: Survey): string | null {
  const uses = (keyword: string) => nodes.keys().some((node) => Object.hasOwn(node, keyword));
  if (!uses("patternProperties") || !uses("unevaluatedProperties")) return null;
  return "patternProperties and unevaluatedProperties together are not supported.";
}
