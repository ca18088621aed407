/**
 * Why a value does not fit a schema, in words a model can act on: which parameter, what is expected, what is missing, what is unknown and
 * which name was probably meant. Only speaks about values that the check has refused; it never decides.
 */
import { nearest } from "../../kit/nearest.ts";
import type { Budget } from "./budget.ts";
import { areUnique, oneOf } from "./equal-values.ts";
import { either, expectation, shown } from "./expectation.ts";
import type { Inspected } from "./inspect.ts";
import { isNode, type Schema, type SchemaNode } from "./keywords.ts";
import { isMultipleOf } from "./multiple-of.ts";
import { matches, textRules } from "./patterns/text-rules.ts";

export interface Problem {
  /** As one would write it: `chat.ids[2]`; empty for the parameters as a whole. */
  readonly path: string;
  readonly message: string;
}

interface ExplainDeps {
  readonly inspected: Inspected;
  readonly budget: Budget;
}

const MAX_PROBLEMS = 8;
const MAX_LISTED_NAMES = 40;

export function explain(deps: ExplainDeps, value: unknown): readonly Problem[] {
  const found = problemsOf(deps, deps.inspected.root, { path: "", value });
  if (found.length > 0) return found.slice(0, MAX_PROBLEMS);
  return [{ path: "", message: "they do not fit together as the tool's schema asks. Read its parameters again." }];
}

interface Place {
  readonly path: string;
  readonly value: unknown;
}

function problemsOf(deps: ExplainDeps, schema: Schema, place: Place): Problem[] {
  deps.budget.spend(1);
  if (typeof schema === "boolean") return schema ? [] : [{ path: place.path, message: "is not allowed here" }];
  const target = deps.inspected.refs.get(schema);
  const referred = target === undefined ? [] : problemsOf(deps, target, place);
  const kind = wrongKind(deps, schema, place);
  if (kind !== null) return [...referred, { path: place.path, message: kind }];
  return [
    ...referred,
    ...objectProblems(deps, schema, place),
    ...listProblems(deps, schema, place),
    ...scalarProblems(deps, schema, place),
    ...all(schema.allOf).flatMap((part) => problemsOf(deps, part, place)),
    ...formProblems(deps, all(schema.anyOf), place),
    ...formProblems(deps, all(schema.oneOf), place),
  ];
}

const all = (held: unknown): readonly Schema[] => (Array.isArray(held) ? held : []);

/** Type and listed values: when these are wrong there is nothing more to say about the place. */
function wrongKind({ inspected, budget }: ExplainDeps, schema: SchemaNode, { value }: Place): string | null {
  const types = [schema.type ?? []].flat();
  const follow = (node: SchemaNode) => inspected.refs.get(node);
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return `must be ${expectation(schema, follow)}, not ${nameOf(value)}`;
  const allowed = Array.isArray(schema.enum) ? schema.enum : Object.hasOwn(schema, "const") ? [schema.const] : null;
  if (allowed === null || oneOf(allowed)(value, budget)) return null;
  const names = allowed.filter((choice) => typeof choice === "string");
  const near = typeof value === "string" ? nearest(value, names) : null;
  return `must be ${expectation(schema, follow)}${near === null ? "" : `. Did you mean ${shown(near)}?`}`;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isNode(value);
  if (type === "integer") return Number.isInteger(value);
  return type === "number" ? Number.isFinite(value) : typeof value === type;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function objectProblems(deps: ExplainDeps, schema: SchemaNode, { path, value }: Place): Problem[] {
  if (!isNode(value)) return [];
  const known = isNode(schema.properties) ? schema.properties : {};
  const names = Object.keys(value);
  const required = all(schema.required).map(String);
  return [
    ...required.filter((name) => !names.includes(name)).map((name) => isMissing(deps, known, below(path, name), name)),
    ...companions(schema, path, names),
    ...names.flatMap((name) => propertyProblems(deps, schema, { path, value }, name)),
    ...outside(path, names.length, [schema.minProperties, schema.maxProperties], "properties"),
  ];
}

function isMissing(deps: ExplainDeps, known: SchemaNode, path: string, name: string): Problem {
  const schema = Object.hasOwn(known, name) ? (known[name] as Schema) : true;
  const expected = expectation(schema, (node) => deps.inspected.refs.get(node));
  return { path, message: schema === true ? "is missing" : `is missing; it must be ${expected}` };
}

/** Names that must come together. */
function companions(schema: SchemaNode, path: string, names: readonly string[]): Problem[] {
  const pairs = [schema.dependentRequired, schema.dependencies].flatMap((held) => Object.entries(held ?? {}));
  return pairs
    .filter(([name]) => names.includes(name))
    .flatMap(([name, needed]) => all(needed).map((other) => [name, String(other)] as const))
    .filter(([, other]) => !names.includes(other))
    .map(([name, other]) => ({ path: below(path, other), message: `is missing; ${name} needs it` }));
}

/** One property: by its name, by patterns its name fits, else as one of those the schema does not name. */
function propertyProblems(deps: ExplainDeps, schema: SchemaNode, place: Place, name: string): Problem[] {
  const { inspected, budget } = deps;
  const known = isNode(schema.properties) ? schema.properties : {};
  const inside = { path: below(place.path, name), value: (place.value as SchemaNode)[name] };
  const patterned = Object.entries(schema.patternProperties ?? {}).filter(([source]) => {
    const pattern = inspected.patterns.get(source);
    return pattern !== undefined && matches(pattern, name, budget);
  });
  const parts = [...(Object.hasOwn(known, name) ? [known[name]] : []), ...patterned.map(([, part]) => part)];
  if (parts.length > 0) return parts.flatMap((part) => problemsOf(deps, part as Schema, inside));
  if (schema.additionalProperties !== false)
    return problemsOf(deps, (schema.additionalProperties ?? true) as Schema, inside);
  return [
    { path: inside.path, message: `is not a known parameter. ${hintFor(name, known, place.value as SchemaNode)}` },
  ];
}

/** The name that was probably meant, or else those there are. */
function hintFor(name: string, known: SchemaNode, value: SchemaNode): string {
  const names = Object.keys(known);
  const near = nearest(
    name,
    names.filter((other) => !Object.hasOwn(value, other)),
  );
  if (near !== null) return `Did you mean ${near}?`;
  if (names.length === 0) return "There are none.";
  return `Known: ${names.slice(0, MAX_LISTED_NAMES).join(", ")}${names.length > MAX_LISTED_NAMES ? ", …" : "."}`;
}

function listProblems(deps: ExplainDeps, schema: SchemaNode, { path, value }: Place): Problem[] {
  if (!Array.isArray(value)) return [];
  const first = Array.isArray(schema.items) ? all(schema.items) : all(schema.prefixItems);
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  const twice = schema.uniqueItems === true && !areUnique(value, deps.budget);
  return [
    ...outside(path, value.length, [schema.minItems, schema.maxItems], "items"),
    ...(twice ? [{ path, message: "must not have the same item twice" }] : []),
    ...value.flatMap((item: unknown, index) => {
      const part = first[index] ?? (rest as Schema | undefined) ?? true;
      return problemsOf(deps, part, { path: `${path}[${index}]`, value: item });
    }),
  ];
}

/** `what` is a plural. */
function outside(path: string, count: number, [least, most]: readonly unknown[], what: string): Problem[] {
  const amount = (limit: number): string =>
    `${limit} ${limit === 1 ? what.replace(/ies$|s$/, (end) => (end === "s" ? "" : "y")) : what}`;
  if (typeof least === "number" && count < least)
    return [{ path, message: `must have at least ${amount(least)}, not ${count}` }];
  if (typeof most === "number" && count > most)
    return [{ path, message: `must have at most ${amount(most)}, not ${count}` }];
  return [];
}

function scalarProblems(deps: ExplainDeps, schema: SchemaNode, { path, value }: Place): Problem[] {
  const expected = (): string => expectation({ ...schema, type: schema.type ?? typeof value }, () => undefined);
  const wrongText = () =>
    textRules(schema, deps.inspected.patterns, deps.budget).some(({ fits }) => !fits(String(value)));
  if (typeof value === "string" && wrongText()) return [{ path, message: `must be ${expected()}` }];
  if (typeof value !== "number") return [];
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  const within = value >= Number(minimum) && value <= Number(maximum);
  const strictly = value > Number(exclusiveMinimum) && value < Number(exclusiveMaximum);
  const multiple = typeof schema.multipleOf !== "number" || isMultipleOf(value, schema.multipleOf, deps.budget);
  return within && strictly && multiple ? [] : [{ path, message: `must be ${expected()}` }];
}

/** Of several forms the one that was most likely meant is spoken about: the one it names itself, else the one with the fewest problems. */
function formProblems(deps: ExplainDeps, forms: readonly Schema[], place: Place): Problem[] {
  if (forms.length === 0) return [];
  const tried = forms.map((form) => ({ form, problems: problemsOf(deps, form, place) }));
  if (tried.some(({ problems }) => problems.length === 0)) return [];
  const sameKind = tried.filter(({ problems }) => !problems.some(({ path }) => path === place.path));
  const named = sameKind.filter(({ form }) => namesItself(deps, form, place.value));
  const [first, ...others] = named.length > 0 ? named : sameKind;
  if (!first) {
    const expected = new Set(forms.map((form) => expectation(form, (node) => deps.inspected.refs.get(node))));
    return [{ path: place.path, message: `must be ${either([...expected])}` }];
  }
  return others.reduce((best, next) => (next.problems.length < best.problems.length ? next : best), first).problems;
}

/** True when a property that may only be one thing in this form, such as its kind, is that thing. */
function namesItself(deps: ExplainDeps, form: Schema, value: unknown): boolean {
  const schema = isNode(form) ? (deps.inspected.refs.get(form) ?? form) : form;
  if (!isNode(schema) || !isNode(schema.properties) || !isNode(value)) return false;
  return Object.entries(schema.properties).some(([name, part]) => {
    if (!isNode(part) || !Object.hasOwn(value, name)) return false;
    const only = Object.hasOwn(part, "const") ? [part.const] : part.enum;
    return Array.isArray(only) && only.length === 1 && oneOf(only)(value[name], deps.budget);
  });
}

/** Names that need it are quoted, so that a path can be read in one way only. */
function below(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${shown(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
