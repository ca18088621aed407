/** Reading fields of a request body: each error says which field is wrong, as the official SDKs expect it. */
import { GatewayError } from "../contracts/errors.ts";
import { isObject } from "../kit/json.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function wrongField(param: string, say: string): GatewayError {
  return new GatewayError("bad_request", `${param}: ${say}`, { say: `\`${param}\` ${say}`, fields: { param } });
}

export function objectAt(value: unknown, param: string): Fields {
  if (isObject(value)) return value;
  throw wrongField(param, "must be an object.");
}

export function listAt(value: unknown, param: string, maxItems: number): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongField(param, "must be a list.");
  if (value.length > maxItems) throw wrongField(param, `has ${value.length} entries; the limit is ${maxItems}.`);
  return value;
}

export function textAt(value: unknown, param: string): string {
  if (typeof value === "string") return value;
  throw wrongField(param, "must be a string.");
}

export function optionalText(value: unknown, param: string): string | undefined {
  return value === undefined || value === null ? undefined : textAt(value, param);
}

export function flagAt(value: unknown, param: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw wrongField(param, "must be true or false.");
}

export function numberAt(value: unknown, param: string, otherwise: number): number {
  if (value === undefined || value === null) return otherwise;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw wrongField(param, "must be a number.");
}

/** Fields that ask for what cannot be promised; each with the values that ask for nothing. */
export type Refusals = Readonly<Record<string, { readonly nothing: readonly unknown[]; readonly because: string }>>;

export function refuseFields(fields: Fields, refusals: Refusals): void {
  for (const [name, { nothing, because }] of Object.entries(refusals)) {
    const value = fields[name];
    if (value !== undefined && value !== null && !nothing.includes(value)) throw wrongField(name, because);
  }
}
