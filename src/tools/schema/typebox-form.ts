/**
 * A schema in the form that TypeBox compiles. TypeBox does the structure; what it would do with JavaScript's regular expressions, and what
 * must be counted, is done here: patterns, formats and lengths of texts, lists of values, and a count before each part that may come often.
 */
import type { Budget } from "./budget.ts";
import { areUnique, oneOf } from "./equal-values.ts";
import type { Inspected } from "./inspect.ts";
import { isObject } from "../../kit/json.ts";
import { APPLICATORS, type Schema, type SchemaNode } from "../../kit/schema/keywords.ts";
import { isMultipleOf } from "./multiple-of.ts";
import { matches, textRules } from "./patterns/text-rules.ts";

export type Fits = (value: unknown) => boolean;

interface FormDeps {
  readonly inspected: Inspected;
  readonly budget: Budget;
  /** Compiles one part on its own. */
  compile(part: object): Fits;
}

type Form = Record<string, unknown>;

interface Writer extends FormDeps {
  /** The name of each place that a reference leads to. */
  readonly names: ReadonlyMap<SchemaNode, string>;
  readonly definitions: Form;
}

/** TypeBox looks for the place of a reference in another way when this is missing. */
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

export function typeboxForm(deps: FormDeps): object {
  const targets = new Set([deps.inspected.root, ...[...deps.inspected.refs.values()].filter(isObject)]);
  const names = new Map([...targets].map((node, index) => [node, `r${index}`]));
  const writer: Writer = { ...deps, names, definitions: empty() };
  for (const [node, name] of names) writer.definitions[name] = counted(writer, writeNode(writer, node));
  return document(writer, reference("r0"));
}

const empty = (): Form => Object.create(null);
const reference = (name: string): Form => ({ $ref: `#/$defs/${name}` });
const document = (writer: Writer, part: unknown): object => ({
  $schema: DIALECT,
  $defs: writer.definitions,
  allOf: [part],
});

interface Written {
  readonly form: unknown;
  /** How many schemas are looked at, at most, before the next count. */
  readonly weight: number;
}

/** A part that references lead to is written once and referred to everywhere, so the form is no larger than the schema. */
function write(writer: Writer, schema: Schema): Written {
  if (typeof schema === "boolean") return { form: schema, weight: 1 };
  const name = writer.names.get(schema);
  return name === undefined ? writeNode(writer, schema) : { form: reference(name), weight: 1 };
}

function counted({ budget }: Writer, { form, weight }: Written): unknown {
  const count = { check: () => (budget.spend(weight), true), error: () => "" };
  return { allOf: [{ "~refine": [count] }, form] };
}

/** Keywords that TypeBox checks as we want it. */
const AS_THEY_ARE = [
  ...["type", "required", "dependentRequired", "minProperties", "maxProperties"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ...["minItems", "maxItems", "minContains", "maxContains"],
];

function writeNode(writer: Writer, node: SchemaNode): Written {
  const form = empty();
  let weight = 1 + (Array.isArray(node.required) ? node.required.length : 0);
  for (const keyword of AS_THEY_ARE) if (Object.hasOwn(node, keyword)) form[keyword] = node[keyword];
  const target = writer.inspected.refs.get(node);
  if (target !== undefined) form.allOf = [write(writer, target).form];
  for (const keyword of APPLICATORS.keys()) {
    if (!Object.hasOwn(node, keyword) || isHandledHere(node, keyword)) continue;
    const written = writeKeyword(writer, keyword, node[keyword]);
    if (keyword === "allOf") form.allOf = [...asList(form.allOf), ...asList(written.form)];
    else form[keyword] = written.form;
    weight += written.weight;
  }
  const checks = [...valueChecks(writer, node), ...textChecks(writer, node), ...nameChecks(writer, node)];
  if (checks.length > 0) form["~refine"] = checks.map((check) => ({ check, error: () => "" }));
  return { form, weight: weight + checks.length };
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function isHandledHere(node: SchemaNode, keyword: string): boolean {
  if (APPLICATORS.get(keyword)?.to === "none" || keyword === "patternProperties") return true;
  return keyword === "additionalProperties" && Object.hasOwn(node, "patternProperties");
}

function writeKeyword(writer: Writer, keyword: string, held: unknown): Written {
  const each = APPLICATORS.get(keyword)?.to === "each";
  let weight = 1;
  const one = (schema: unknown): unknown => {
    const written = write(writer, schema as Schema);
    weight += each ? 1 : written.weight;
    return each && isObject(schema) ? counted(writer, written) : written.form;
  };
  const holds = APPLICATORS.get(keyword)?.holds;
  if (Array.isArray(held)) return { form: held.map(one), weight };
  if (holds === "one" || holds === "one or list" || !isObject(held)) return { form: one(held), weight };
  const form = empty();
  for (const [name, schema] of Object.entries(held)) form[name] = Array.isArray(schema) ? schema : one(schema);
  return { form, weight };
}

function valueChecks({ budget }: Writer, node: SchemaNode): Fits[] {
  const checks = [node.enum, Object.hasOwn(node, "const") ? [node.const] : null]
    .filter(Array.isArray)
    .map((allowed) => {
      const isAllowed = oneOf(allowed);
      return (value: unknown) => isAllowed(value, budget);
    });
  const { multipleOf } = node;
  if (typeof multipleOf === "number")
    checks.push(
      (value) => typeof value !== "number" || (Number.isFinite(value) && isMultipleOf(value, multipleOf, budget)),
    );
  if (node.uniqueItems === true) checks.push((value) => !Array.isArray(value) || areUnique(value, budget));
  return checks;
}

function textChecks({ inspected, budget }: Writer, node: SchemaNode): Fits[] {
  const rules = textRules(node, inspected.patterns, budget);
  return rules.map((fits) => (value) => typeof value !== "string" || fits(value));
}

/** `patternProperties`, and with it `additionalProperties`, which is about the names that no pattern takes. */
function nameChecks(writer: Writer, node: SchemaNode): Fits[] {
  const { inspected, budget } = writer;
  if (!isObject(node.patternProperties)) return [];
  const parts = Object.entries(node.patternProperties).flatMap(([source, schema]) => {
    const pattern = inspected.patterns.get(source);
    return pattern ? [{ pattern, fits: onItsOwn(writer, schema as Schema) }] : [];
  });
  const known = new Set(isObject(node.properties) ? Object.keys(node.properties) : []);
  const others = onItsOwn(writer, (node.additionalProperties ?? true) as Schema);
  const fits = (name: string, value: unknown): boolean => {
    const taken = parts.filter(({ pattern }) => matches(pattern, name, budget));
    if (taken.length === 0 && !known.has(name)) return others(value);
    return taken.every((part) => part.fits(value));
  };
  return [(value) => !isObject(value) || Object.entries(value).every(([name, part]) => fits(name, part))];
}

/** Compiled when first needed: by then all definitions are written. */
function onItsOwn(writer: Writer, schema: Schema): Fits {
  const part = counted(writer, write(writer, schema));
  let fits: Fits | null = null;
  return (value) => {
    fits ??= writer.compile(document(writer, part));
    return fits(value);
  };
}
