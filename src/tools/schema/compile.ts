/** A JSON Schema made ready to judge values. A schema that cannot be used is quarantined with a reason; it never spoils another tool. */
import { Compile } from "typebox/schema";

export interface SchemaProblem {
  /** Dotted; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

export type CheckResult = { readonly ok: true } | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

export type CompiledSchema =
  | { readonly kind: "ok"; readonly schema: Readonly<Record<string, unknown>>; check(value: unknown): CheckResult }
  | { readonly kind: "quarantined"; readonly because: string };

const MAX_PROBLEMS = 8;
const OK: CheckResult = { ok: true };

export function compileSchema(schema: unknown): CompiledSchema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    return { kind: "quarantined", because: "its parameters are not a JSON Schema" };
  const fields = schema as Readonly<Record<string, unknown>>;
  if (fields["type"] !== "object")
    return { kind: "quarantined", because: 'its parameters are not an object: the schema needs "type": "object"' };
  let validator: ReturnType<typeof Compile> | null = null; // made at the first call: starting costs nothing
  return {
    kind: "ok",
    schema: fields,
    check(value) {
      validator ??= Compile(fields);
      if (validator.Check(value)) return OK;
      const [, errors] = validator.Errors(value);
      const problems = errors
        .slice(0, MAX_PROBLEMS)
        .map(({ instancePath, message }) => ({ path: instancePath.slice(1).replaceAll("/", "."), message }));
      return { ok: false, problems };
    },
  };
}
