/**
 * A tool's JSON Schema, made ready to check calls, or the reason why the tool cannot be offered. The whole schema counts; nothing in it is
 * fetched, no pattern in it can hang the gateway, and a check does a limited amount of work whatever schema and value are.
 */
import { createBudget, MAX_CHECK_STEPS, TooMuchWork } from "./budget.ts";
import { coerceValue } from "./values/coerce.ts";
import { explain, type Problem } from "./explain.ts";
import { fillDefaults } from "./values/defaults.ts";
import { type Inspected, inspect } from "./inspect.ts";
import type { SchemaNode } from "../../kit/schema/keywords.ts";
import { createPatternCompiler } from "./patterns/pattern.ts";
import { MAX_VALUE_DEPTH, plainCopy } from "./plain-value.ts";
import { type Fits, typeboxForm } from "./typebox-form.ts";

export type { Problem } from "./explain.ts";

export type CheckResult = { readonly ok: true } | { readonly ok: false; readonly problems: readonly Problem[] };

type CompiledSchema =
  | {
      readonly kind: "ok";
      /** As it came, in a copy nobody else holds. */
      readonly schema: SchemaNode;
      /** What agents are to be given instead; null: the schema as it came. */
      readonly offered: SchemaNode | null;
      /** Rules that are not checked, one sentence for each. */
      readonly notices: readonly string[];
      check(value: unknown): CheckResult;
      /** The value with each `default` of the schema where a property was left out. It may fit less well than the value did. */
      withDefaults(value: unknown): unknown;
      /** The value in the forms that the schema asks for, where it was written in another one. */
      coerce(value: unknown): unknown;
    }
  | { readonly kind: "quarantined"; readonly because: string };

/** For many schemas: what they have in common is made once. */
export function createSchemaCompiler(): (schema: unknown) => CompiledSchema {
  const compilePattern = createPatternCompiler();
  return (schema) => {
    const inspection = inspect(schema, compilePattern);
    if (inspection.kind === "quarantined") return inspection;
    const { inspected } = inspection;
    return {
      kind: "ok",
      schema: inspected.given,
      offered: inspected.withoutBroken,
      notices: inspected.notices,
      check: checkerFor(inspected),
      withDefaults: (value) => fillDefaults(inspected, value),
      coerce: (value) => coerceValue(inspected, value),
    };
  };
}

export const compileSchema = (schema: unknown): CompiledSchema => createSchemaCompiler()(schema);

function checkerFor(inspected: Inspected): (value: unknown) => CheckResult {
  const budget = createBudget(MAX_CHECK_STEPS);
  let fits: Fits | null = null; // made at the first call: hundreds of tools may be registered and few of them called
  return (value) => {
    const copy = plainCopy(value);
    if (!copy.ok) return refused(`nested more than ${MAX_VALUE_DEPTH} levels deep. Send something flatter.`);
    try {
      budget.renew();
      fits ??= compile(typeboxForm({ inspected, budget, compile }));
      if (fits(copy.value)) return { ok: true };
      budget.renew();
      return { ok: false, problems: explain({ inspected, budget }, copy.value) };
    } catch (error) {
      if (error instanceof TooMuchWork) return refused("too much to check against the tool's schema. Send less.");
      return refused("not checkable: the tool's schema is too complicated."); // nothing unchecked ever reaches a tool
    }
  };
}

const refused = (message: string): CheckResult => ({ ok: false, problems: [{ path: "", message }] });

function compile(form: object): Fits {
  // loaded at the first call, because it would lengthen every start
  const { Compile } = require("typebox/schema") as typeof import("typebox/schema");
  const validator = Compile(form as Parameters<typeof Compile>[0]);
  return (value) => validator.Check(value);
}
