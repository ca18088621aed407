/** What a value of a JSON Schema is in TypeScript, as far as the schema says it by type, enum, const, properties, items and alternatives. Types only. */

/** Any JSON Schema, written as an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A property with a `default` is always there: it is filled in before the tool runs. What the schema does not say is `unknown`. */
export type SchemaValue<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? SchemaValue<A>
      : S extends { readonly oneOf: readonly (infer O)[] }
        ? SchemaValue<O>
        : S extends { readonly type: readonly (infer T)[] }
          ? ValueOfType<T, S>
          : S extends { readonly type: infer T }
            ? ValueOfType<T, S>
            : unknown;

type ValueOfType<T, S> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? readonly ItemValue<S>[]
          : T extends "object"
            ? ObjectValue<S>
            : unknown;

type ItemValue<S> = S extends { readonly items: infer I } ? SchemaValue<I> : unknown;

type ObjectValue<S> = S extends { readonly properties: infer P }
  ? {
      readonly [K in keyof P as K extends AlwaysThere<S, P> ? K : never]: SchemaValue<P[K]>;
    } & {
      readonly [K in keyof P as K extends AlwaysThere<S, P> ? never : K]?: SchemaValue<P[K]>;
    }
  : Readonly<Record<string, unknown>>;

type AlwaysThere<S, P> =
  | (S extends { readonly required: readonly (infer R)[] } ? R : never)
  | { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];
