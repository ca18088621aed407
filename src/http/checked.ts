/** The border for JSON values: a value is parsed by its schema once, and is trusted after that. Validators are made at first use, because making them at start would cost a third of the start. */
import type { Static, TSchema } from "typebox";
import { GatewayError } from "../contracts/errors.ts";

export interface Checked<T> {
  /** Throws GatewayError `invalid_params`, with words that name the field. */
  parse(value: unknown): Promise<T>;
}

interface Validator {
  Check(value: unknown): boolean;
  Errors(value: unknown): { readonly instancePath: string; readonly message: string }[];
}

const MAX_SAY_CHARS = 300;

export function checked<S extends TSchema>(schema: S): Checked<Static<S>> {
  let validator: Promise<Validator> | null = null;
  return {
    async parse(value) {
      validator ??= import("typebox/compile").then(({ Compile }) => Compile(schema) as Validator);
      const made = await validator;
      if (made.Check(value)) return value as Static<S>;
      const say = describe(made.Errors(value)).slice(0, MAX_SAY_CHARS);
      throw new GatewayError("invalid_params", say, { say });
    },
  };
}

function describe(errors: { readonly instancePath: string; readonly message: string }[]): string {
  const first = errors.find((error) => error.message !== "schema is false") ?? errors[0];
  if (!first) return "One of the values is not valid.";
  const where = first.instancePath === "" ? "The request" : `\`${first.instancePath.slice(1).replaceAll("/", ".")}\``;
  return `${where} ${first.message}.`;
}
