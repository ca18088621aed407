/** The border for JSON values: a value is parsed by its schema once, and is trusted after that. Validators are made at first use, because making them at start would cost a third of the start. */
import { type Static, type TProperties, type TSchema, Type } from "typebox";
import { GatewayError } from "../contracts/errors.ts";
import type { HttpApi, RouteName } from "../contracts/http-api.ts";
import { lazy } from "../kit/deferred.ts";

export interface Checked<T> {
  /** Throws GatewayError `invalid_params`, with words that name the field. */
  parse(value: unknown): Promise<T>;
}

interface Problem {
  readonly instancePath: string;
  readonly message: string;
  /** One of them for a choice from a list, the other for each word of a union. */
  readonly params?: { readonly allowedValues?: readonly unknown[]; readonly allowedValue?: unknown };
}

interface Validator {
  Check(value: unknown): boolean;
  Errors(value: unknown): readonly Problem[];
}

const MAX_SAY_CHARS = 300;

export function checked<S extends TSchema>(schema: S): Checked<Static<S>> {
  const validator = lazy(async () => {
    const { Compile } = await import("typebox/compile");
    return Compile(schema) as Validator;
  });
  return {
    async parse(value) {
      const made = await validator();
      if (made.Check(value)) return value as Static<S>;
      const say = describe(made.Errors(value)).slice(0, MAX_SAY_CHARS);
      throw new GatewayError("invalid_params", say, { say });
    },
  };
}

/** An object of these fields and no others. */
export function checkedObject<P extends TProperties>(fields: P) {
  return checked(Type.Object(fields, { additionalProperties: false }));
}

type BodyOf<R extends RouteName> = HttpApi[R] extends { body: infer B } ? B : never;

/** The schema of a row's body, which has to take exactly what `HttpApi` says: clients send by that. `bodyOf<"POST /api/x">()(checkedObject(…))` */
export function bodyOf<R extends RouteName>() {
  return <T extends BodyOf<R>>(schema: BodyOf<R> extends T ? Checked<T> : "the schema takes less than HttpApi says") =>
    schema as Checked<T>;
}

const UNKNOWN_FIELD = "schema is false"; // what the validator says about a field that a closed object does not have

function describe(errors: readonly Problem[]): string {
  const wrong = errors.find(({ message }) => message !== UNKNOWN_FIELD && !message.includes("additional properties"));
  const unknown = errors.find(({ message }) => message === UNKNOWN_FIELD);
  const nameOf = (path: string): string => `\`${path.slice(1).replaceAll("/", ".")}\``;
  const choices = errors.filter(({ instancePath }) => instancePath === wrong?.instancePath);
  const allowed = choices
    .flatMap(({ params }) => params?.allowedValues ?? (params?.allowedValue === undefined ? [] : [params.allowedValue]))
    .join(", ");
  if (wrong && allowed !== "") return `${nameOf(wrong.instancePath)} must be one of: ${allowed}.`;
  if (wrong) return `${wrong.instancePath === "" ? "The request" : nameOf(wrong.instancePath)} ${wrong.message}.`;
  return unknown ? `There is no field ${nameOf(unknown.instancePath)} here.` : "One of the values is not valid.";
}
