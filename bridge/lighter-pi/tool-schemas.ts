/**
 * In each turn pi compares the tools that the model was told of with those there are, twice, by writing every schema as JSON, reading it again
 * and writing it once more: a quarter of what a turn costs pi. A schema that the bridge has named is written and read once. All other values
 * go the usual way, and every text is what it would have been.
 */
type Stringify = typeof JSON.stringify;
type Parse = typeof JSON.parse;

interface SchemaJson {
  readonly stringify: Stringify;
  readonly parse: Parse;
  /** This object will stay as it is for as long as it is used. */
  know(schema: object): void;
  /** It cannot change, and whoever reads it is given the same object. */
  isShared(value: object): boolean;
}

interface Declaration {
  readonly name: unknown;
  readonly description: unknown;
  readonly text: string;
}

/** Then all are forgotten: tools of a process rarely change, and an agent may have hundreds. */
const MAX_SCHEMAS = 4_000;
const KEY = Symbol.for("pi-gateway.known-schemas");
const holder = globalThis as { [KEY]?: (schema: object) => void };

/** For the bridge, which lives in another file than what runs before pi. Without that file nothing happens. */
export function knowSchema(schema: object): void {
  holder[KEY]?.(schema);
}

/** Returns which objects are schemas that cannot change. */
export function writeSchemasOnce(): (value: object) => boolean {
  const { stringify, parse, know, isShared } = createSchemaJson(JSON);
  JSON.stringify = stringify;
  JSON.parse = parse;
  holder[KEY] = know;
  return isShared;
}

export function createSchemaJson(native: Pick<typeof JSON, "stringify" | "parse">): SchemaJson {
  const write = native.stringify as (value: unknown, ...more: unknown[]) => string | undefined;
  const read = native.parse;
  const texts = new WeakMap<object, string>();
  const shared = new WeakSet();
  /** By text: what was read from it, or null when nobody has read it yet. */
  const schemas = new Map<string, object | null>();
  /** By the text of the schema. */
  const declarations = new Map<string, Declaration>();
  let longest = 0;

  const know = (schema: object): void => {
    if (texts.has(schema)) return;
    const text = write(schema);
    if (text === undefined || !text.startsWith("{")) return;
    if (schemas.size >= MAX_SCHEMAS) for (const all of [schemas, declarations]) all.clear();
    if (!schemas.has(text)) schemas.set(text, null);
    longest = Math.max(longest, text.length);
    texts.set(schema, text);
  };

  const share = (schema: object, text: string): void => {
    texts.set(schema, text);
    shared.add(freeze(schema));
  };

  /** An object that says the same as a known schema, such as one from a session file, is known from then on: it may not change. */
  const written = (value: object): string | undefined => {
    const text = write(value);
    if (text !== undefined && schemas.has(text)) share(value, text);
    return text;
  };

  /** The declaration of a tool whose schema is known: as it was written last, or key by key, as it is written natively. */
  const declared = (tool: Record<string, unknown>, schema: string): string => {
    const { name, description } = tool;
    const keys = Object.keys(tool);
    const isUsual = keys.length === 3 && keys[0] === "name" && keys[1] === "description" && keys[2] === "parameters";
    const last = declarations.get(schema);
    if (isUsual && last !== undefined && last.name === name && last.description === description) return last.text;
    const parts = keys.map((key) => [write(key), key === "parameters" ? schema : write(tool[key])] as const);
    const text = `{${parts.flatMap(([key, value]) => (value === undefined ? [] : [`${key}:${value}`])).join(",")}}`;
    if (isUsual) declarations.set(schema, { name, description, text });
    return text;
  };

  const stringify = (value: unknown, ...more: unknown[]): string | undefined => {
    if (more.length > 0 || typeof value !== "object" || value === null) return write(value, ...more);
    const known = texts.get(value);
    if (known !== undefined) return known;
    if (!isPlain(value)) return write(value);
    const schema = textOf(texts, value.parameters);
    if (schema !== undefined) return declared(value, schema);
    return value.type === "object" ? written(value) : write(value);
  };

  const parse: Parse = (text, ...more) => {
    const isLong = typeof text !== "string" || text.length > longest; // looking it up would take as long as reading it
    if (isLong || more.length > 0) return read(text, ...more);
    const known = schemas.get(text);
    if (known === undefined) return read(text);
    if (known !== null) return known;
    const schema: object = read(text);
    schemas.set(text, schema);
    share(schema, text);
    return schema;
  };

  return { stringify: stringify as Stringify, parse, know, isShared: (value) => shared.has(value) };
}

function textOf(texts: WeakMap<object, string>, schema: unknown): string | undefined {
  return typeof schema === "object" && schema !== null ? texts.get(schema) : undefined;
}

/** Written by its own keys, one after the other. */
function isPlain(value: object): value is Record<string, unknown> {
  return Object.getPrototypeOf(value) === Object.prototype && !Object.hasOwn(value, "toJSON");
}

/** With all that is in it: others are given the same object. */
function freeze<Value extends object>(value: Value): Value {
  Object.freeze(value);
  for (const one of Object.values(value)) if (typeof one === "object" && one !== null) freeze(one as object);
  return value;
}
