/**
 * Why a value does not fit a schema, in words a model can act on: which parameter, what is expected, what is missing, what is unknown and
 * which name was probably meant. Only speaks about values that the check has refused; it never decides.
 */
import { nearest } from "../../kit/nearest.ts";
import { allowedValues, expectation } from "../../kit/schema/expectation.ts";
import { foundValue, joinPath, missingValue, unknownKey, wrongValue } from "../../kit/schema/problem.ts";
import type { Budget } from "./budget.ts";
import { areUnique, oneOf } from "./equal-values.ts";
import type { Inspected } from "./inspect.ts";
import { isObject } from "../../kit/json.ts";
import type { Schema, SchemaNode } from "../../kit/schema/keywords.ts";
import { isMultipleOf } from "./multiple-of.ts";
import { matches, textRules } from "./patterns/text-rules.ts";

export interface Problem {
  /** As one would write it: `chat.ids[2]`; empty for the parameters as a whole. */
  readonly path: string;
  /** A sentence without its subject, which is the path. */
  readonly message: string;
}

interface ExplainDeps {
  readonly inspected: Inspected;
  readonly budget: Budget;
}

const MAX_PROBLEMS = 8;

export function explain(deps: ExplainDeps, value: unknown): readonly Problem[] {
  const found = problemsOf(deps, deps.inspected.root, { path: "", value });
  if (found.length > 0) return found.slice(0, MAX_PROBLEMS);
  return [{ path: "", message: "do not fit together as the tool's schema asks. Read its parameters again." }];
}

/** A part of the parameters, and where it is. */
interface Part {
  readonly path: string;
  readonly value: unknown;
}

function problemsOf(deps: ExplainDeps, schema: Schema, part: Part): Problem[] {
  deps.budget.spend(1);
  if (typeof schema === "boolean") return schema ? [] : [{ path: part.path, message: "is not allowed here." }];
  const target = deps.inspected.refs.get(schema);
  const referred = target === undefined ? [] : problemsOf(deps, target, part);
  const kind = wrongKind(deps, schema, part);
  if (kind !== null) return [...referred, { path: part.path, message: kind }];
  return [
    ...referred,
    ...objectProblems(deps, schema, part),
    ...listProblems(deps, schema, part),
    ...scalarProblems(deps, schema, part),
    ...all(schema.allOf).flatMap((also) => problemsOf(deps, also, part)),
    ...formProblems(deps, all(schema.anyOf), part),
    ...formProblems(deps, all(schema.oneOf), part),
  ];
}

const all = (held: unknown): readonly Schema[] => (Array.isArray(held) ? held : []);

function expected({ inspected }: ExplainDeps, schema: Schema): string {
  return expectation(schema, (node) => inspected.refs.get(node));
}

/** Type and listed values: when these are wrong there is nothing more to say about this part. */
function wrongKind(deps: ExplainDeps, schema: SchemaNode, { value }: Part): string | null {
  const types = [schema.type ?? []].flat();
  const allowed = allowedValues(schema);
  const isOfKind = types.length === 0 || types.some((type) => isOfType(value, type));
  if (isOfKind && (allowed === null || oneOf(allowed)(value, deps.budget))) return null;
  if (!isOfKind || allowed === null || typeof value !== "string")
    return wrongValue(foundValue(value), expected(deps, schema));
  const names = allowed.filter((choice) => typeof choice === "string");
  return wrongValue(null, expected(deps, schema), nearest(value, names));
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return type === "number" ? Number.isFinite(value) : typeof value === type;
}

function objectProblems(deps: ExplainDeps, schema: SchemaNode, { path, value }: Part): Problem[] {
  if (!isObject(value)) return [];
  const known = isObject(schema.properties) ? schema.properties : {};
  const names = Object.keys(value);
  const missing = all(schema.required)
    .map(String)
    .filter((name) => !names.includes(name));
  return [
    ...missing.map((name) => ({ path: joinPath(path, name), message: isMissing(deps, known, name) })),
    ...companions(schema, path, names),
    ...names.flatMap((name) => propertyProblems(deps, schema, { path, value }, name)),
    ...wrongCount(schema, path, names.length),
  ];
}

function isMissing(deps: ExplainDeps, known: SchemaNode, name: string): string {
  const schema = Object.hasOwn(known, name) ? (known[name] as Schema) : true;
  return missingValue(schema === true ? null : expected(deps, schema));
}

function wrongCount({ minProperties: least, maxProperties: most }: SchemaNode, path: string, count: number): Problem[] {
  if (typeof least === "number" && count < least)
    return [{ path, message: `has ${count} of at least ${least} properties.` }];
  if (typeof most === "number" && count > most)
    return [{ path, message: `has ${count} of at most ${most} properties.` }];
  return [];
}

/** Names that must come together. */
function companions(schema: SchemaNode, path: string, names: readonly string[]): Problem[] {
  const pairs = [schema.dependentRequired, schema.dependencies].flatMap((held) => Object.entries(held ?? {}));
  return pairs
    .filter(([name]) => names.includes(name))
    .flatMap(([name, needed]) => all(needed).map((other) => [name, String(other)] as const))
    .filter(([, other]) => !names.includes(other))
    .map(([name, other]) => ({ path: joinPath(path, other), message: `is missing; ${name} needs it.` }));
}

/** One property: by its name, by patterns its name fits, else as one of those the schema does not name. */
function propertyProblems(deps: ExplainDeps, schema: SchemaNode, part: Part, name: string): Problem[] {
  const { inspected, budget } = deps;
  const known = isObject(schema.properties) ? schema.properties : {};
  const inside = { path: joinPath(part.path, name), value: (part.value as SchemaNode)[name] };
  const patterned = Object.entries(schema.patternProperties ?? {}).filter(([source]) => {
    const pattern = inspected.patterns.get(source);
    return pattern !== undefined && matches(pattern, name, budget);
  });
  const schemas = [...(Object.hasOwn(known, name) ? [known[name]] : []), ...patterned.map(([, below]) => below)];
  if (schemas.length > 0) return schemas.flatMap((below) => problemsOf(deps, below as Schema, inside));
  if (schema.additionalProperties !== false)
    return problemsOf(deps, (schema.additionalProperties ?? true) as Schema, inside);
  const names = Object.keys(known);
  const free = names.filter((other) => !Object.hasOwn(part.value as SchemaNode, other));
  return [{ path: inside.path, message: unknownKey("not a known parameter", nearest(name, free), names) }];
}

function listProblems(deps: ExplainDeps, schema: SchemaNode, { path, value }: Part): Problem[] {
  if (!Array.isArray(value)) return [];
  const first = Array.isArray(schema.items) ? all(schema.items) : all(schema.prefixItems);
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  const { minItems = 0, maxItems = Infinity } = schema;
  const hasCount = value.length >= Number(minItems) && value.length <= Number(maxItems);
  const isTwice = schema.uniqueItems === true && !areUnique(value, deps.budget);
  const list = { ...schema, type: "array" };
  return [
    ...(hasCount ? [] : [{ path, message: wrongValue(foundValue(value), expected(deps, list)) }]),
    ...(isTwice ? [{ path, message: "must not have the same item twice." }] : []),
    ...value.flatMap((item: unknown, index) => {
      const itemSchema = first[index] ?? (rest as Schema | undefined) ?? true;
      return problemsOf(deps, itemSchema, { path: `${path}[${index}]`, value: item });
    }),
  ];
}

function scalarProblems(deps: ExplainDeps, schema: SchemaNode, { path, value }: Part): Problem[] {
  const scalar = { ...schema, type: schema.type ?? typeof value };
  const wrongText = () => textRules(schema, deps.inspected.patterns, deps.budget).some((fits) => !fits(String(value)));
  if (typeof value === "string" && wrongText()) return [{ path, message: wrongValue(null, expected(deps, scalar)) }];
  if (typeof value !== "number") return [];
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  const within = value >= Number(minimum) && value <= Number(maximum);
  const strictly = value > Number(exclusiveMinimum) && value < Number(exclusiveMaximum);
  const multiple = typeof schema.multipleOf !== "number" || isMultipleOf(value, schema.multipleOf, deps.budget);
  return within && strictly && multiple
    ? []
    : [{ path, message: wrongValue(foundValue(value), expected(deps, scalar)) }];
}

/** Of several forms the one that was most likely meant is spoken about: the one it names itself, else the one with the fewest problems. */
function formProblems(deps: ExplainDeps, forms: readonly Schema[], part: Part): Problem[] {
  if (forms.length === 0) return [];
  const tried = forms.map((form) => ({ form, problems: problemsOf(deps, form, part) }));
  if (tried.some(({ problems }) => problems.length === 0)) return [];
  const sameKind = tried.filter(({ problems }) => !problems.some(({ path }) => path === part.path));
  const named = sameKind.filter(({ form }) => namesItself(deps, form, part.value));
  const [first, ...others] = named.length > 0 ? named : sameKind;
  if (!first)
    return [{ path: part.path, message: wrongValue(foundValue(part.value), expected(deps, { anyOf: forms })) }];
  return others.reduce((best, next) => (next.problems.length < best.problems.length ? next : best), first).problems;
}

/** True when a property that may only be one thing in this form, such as its kind, is that thing. */
function namesItself(deps: ExplainDeps, form: Schema, value: unknown): boolean {
  const schema = isObject(form) ? (deps.inspected.refs.get(form) ?? form) : form;
  if (!isObject(schema) || !isObject(schema.properties) || !isObject(value)) return false;
  return Object.entries(schema.properties).some(([name, part]) => {
    if (!isObject(part) || !Object.hasOwn(value, name)) return false;
    const only = Object.hasOwn(part, "const") ? [part.const] : part.enum;
    return Array.isArray(only) && only.length === 1 && oneOf(only)(value[name], deps.budget);
  });
}
