/** Values for a JSON Schema, by chance that can be had again: some meant to fit, some broken on purpose. What fits is for validators to say. */
import fc from "fast-check";
import type { Chance } from "../chance.ts";

type Json = unknown;
type Node = Readonly<Record<string, unknown>>;

const MAX_LEVELS = 6;
const MAX_SAMPLES = 12;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const numberOr = (value: unknown, other: number): number => (typeof value === "number" ? value : other);

function pickFrom<T>(chance: Chance, from: readonly T[]): T | undefined {
  const [first, ...others] = from;
  return first === undefined ? undefined : chance.pick([first, ...others]);
}

/** Meant to fit. Only `#/…` references are followed. */
export function goodValue(root: Node, chance: Chance): Json {
  return valueOf(root, root, chance, MAX_LEVELS);
}

function valueOf(root: Node, schema: unknown, chance: Chance, levels: number): Json {
  if (!isNode(schema)) return pickFrom(chance, ["text", 3, true, null, { any: "thing" }, [1]]);
  if (typeof schema.$ref === "string") return valueOf(root, follow(root, schema.$ref), chance, levels - 1);
  if (Object.hasOwn(schema, "const")) return schema.const;
  if (Array.isArray(schema.enum)) return pickFrom(chance, schema.enum);
  const form = pickFrom(chance, [...list(schema.anyOf), ...list(schema.oneOf)]);
  if (form !== undefined) return valueOf(root, form, chance, levels - 1);
  const types = [schema.type ?? []].flat();
  return ofType(root, schema, { chance, levels, type: pickFrom(chance, types) });
}

interface Draw {
  readonly chance: Chance;
  readonly levels: number;
  readonly type: unknown;
}

function ofType(root: Node, schema: Node, { chance, levels, type }: Draw): Json {
  if (type === "string") return textOf(schema, chance);
  if (type === "integer") return Math.ceil(numberOf(schema, chance));
  if (type === "number") return numberOf(schema, chance);
  if (type === "boolean") return chance.hits(0.5);
  if (type === "null") return null;
  if (type === "array") {
    const least = numberOr(schema.minItems, 0);
    const most = Math.min(numberOr(schema.maxItems, least + 2), least + 2);
    const length = levels > 0 ? chance.between(least, most) : least;
    return Array.from({ length }, () => valueOf(root, schema.items ?? true, chance, levels - 1));
  }
  if (type === "object") return objectOf(root, schema, chance, levels);
  return valueOf(root, true, chance, levels);
}

function objectOf(root: Node, schema: Node, chance: Chance, levels: number): Json {
  const made: Record<string, Json> = {};
  const properties = isNode(schema.properties) ? schema.properties : {};
  const required = list(schema.required).map(String);
  const share = levels > 3 ? 0.4 : 0.15;
  for (const name of new Set([...required, ...Object.keys(properties)])) {
    if (!required.includes(name) && (levels <= 0 || !chance.hits(share))) continue;
    made[name] = valueOf(root, properties[name] ?? true, chance, levels - 1);
  }
  if (isNode(schema.additionalProperties) && chance.hits(0.5))
    made[`extra${chance.between(1, 9)}`] = valueOf(root, schema.additionalProperties, chance, levels - 1);
  return made;
}

function numberOf(schema: Node, chance: Chance): number {
  const low = numberOr(schema.minimum, numberOr(schema.exclusiveMinimum, -1) + 1);
  const high = numberOr(schema.maximum, numberOr(schema.exclusiveMaximum, low + 101) - 1);
  return chance.hits(0.3)
    ? (pickFrom(chance, [low, high]) ?? low)
    : Math.round((low + chance.next() * (high - low)) * 4) / 4;
}

const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  uri: ["https://a.example/x?q=1#top", "mailto:ann@a.example", "urn:isbn:0451450523", "http://[::1]:80/"],
  email: ["ann@a.example", "a.b+c@d-e.example"],
  uuid: ["0f8fad5b-d9cb-469f-a165-70867728950e"],
  ipv4: ["127.0.0.1", "10.255.3.4"],
  "date-time": ["2026-02-28T23:59:59Z", "2024-02-29t00:00:00.5+01:30"],
};

/** fast-check makes no text for such a pattern; those of real tools stand beside a format. */
const LOOKAROUND = /\(\?<?[=!]/;

function textOf(schema: Node, chance: Chance): string {
  if (typeof schema.pattern === "string" && !LOOKAROUND.test(schema.pattern))
    return matching(schema.pattern, schema, chance);
  const samples = typeof schema.format === "string" ? SAMPLES[schema.format] : undefined;
  if (samples) return pickFrom(chance, samples) ?? "";
  const least = numberOr(schema.minLength, 0);
  const most = Math.min(numberOr(schema.maxLength, least + 12), least + 12);
  const letters = ["a", "Z", "0", " ", "_", "é", "😀", "\n"];
  return Array.from({ length: chance.between(least, most) }, () => pickFrom(chance, letters)).join("");
}

/** Most patterns are about single characters, so that several samples in a row are one as well when a length is asked for. */
function matching(pattern: string, schema: Node, chance: Chance): string {
  const seed = chance.between(0, 2 ** 31);
  const samples = fc.sample(fc.stringMatching(new RegExp(pattern, "u")), { seed, numRuns: MAX_SAMPLES });
  const least = numberOr(schema.minLength, 0);
  const whole = samples.find((text) => text.length >= least) ?? samples.join("");
  return whole.slice(0, numberOr(schema.maxLength, whole.length));
}

function follow(root: Node, ref: string): unknown {
  const parts = ref
    .slice(2)
    .split("/")
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
  return parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], root);
}

const WRONG: readonly Json[] = [
  null,
  "",
  "a b\t",
  0,
  -1,
  1.5,
  1e12,
  true,
  [],
  [null],
  {},
  { x: 1 },
  "x".repeat(6_000),
  "😀",
];
const STRANGE = ["__proto__", "constructor", "toString", "unknown_one", ""];

/** A copy with one thing changed somewhere: another value, a missing name, a name too many, an item too many or too few. */
export function broken(value: Json, chance: Chance): Json {
  const inside = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (inside.length === 0 || chance.hits(0.15))
    return isNode(value) ? withName(value, chance) : pickFrom(chance, WRONG);
  const at = pickFrom(chance, inside) ?? "";
  const how = chance.next();
  if (Array.isArray(value)) {
    if (how < 0.2) return [...value, ...value, ...value];
    if (how < 0.35) return value.slice(1);
    return value.map((item, index) => (String(index) === at ? broken(item, chance) : item));
  }
  const copy: Record<string, Json> = { ...(value as Record<string, Json>) };
  if (how < 0.2) delete copy[at];
  else if (how < 0.35) return withName(copy, chance);
  else if (how < 0.6) copy[at] = pickFrom(chance, WRONG);
  else copy[at] = broken(copy[at], chance);
  return copy;
}

function withName(value: Node, chance: Chance): Json {
  const copy = { ...value };
  const name = pickFrom(chance, STRANGE) ?? "";
  Object.defineProperty(copy, name, { value: pickFrom(chance, WRONG), enumerable: true, configurable: true });
  return copy;
}
