/**
 * Kinds of values that several sections share. Each takes what is checked, then the description. With a `default` a setting is always there
 * once loaded; one that may be missing is wrapped in `Type.Optional`.
 */
import { type Static, type TSchema, Type } from "typebox";
import type { NetworkSetting } from "../../contracts/egress.ts";
import type { Secret } from "../../kit/secret.ts";

interface Default<T> {
  readonly default?: T;
}

interface Range extends Default<number> {
  readonly minimum: number;
  readonly maximum?: number;
}

interface TextLimits extends Default<string> {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** What the pattern means, in words that fit after "it must be". */
  readonly expects?: string;
}

export const flag = (options: Default<boolean>, description: string) => Type.Boolean({ ...options, description });

export const wholeNumber = (range: Range, description: string) => Type.Integer({ ...range, description });

export const text = (limits: TextLimits, description: string) => Type.String({ ...limits, description });

export const choice = <const T extends string>(
  { of, ...byDefault }: { readonly of: readonly T[] } & Default<NoInfer<T>>,
  description: string,
) => Type.Unsafe<T>({ anyOf: of.map((one) => ({ const: one, type: "string" })), ...byDefault, description });

/** Any number of them up to a limit; none when left out. */
export const list = <S extends TSchema>(entry: S, maxItems: number, description: string) =>
  Type.Array(entry, { default: [], maxItems, description });

/** Entries by names that the file's author chooses; none when left out. */
export const named = <S extends TSchema>(namePattern: string, entry: S, description: string) =>
  Type.Unsafe<Record<string, Static<S>>>(
    Type.Record(Type.String({ pattern: namePattern }), entry, { default: {}, description }),
  );

export const webAddress = (options: Default<string>, description: string) =>
  text(
    { ...options, pattern: "^https?://", expects: "an address that begins with http:// or https://", maxLength: 2048 },
    description,
  );

const SECRET = { type: "string", minLength: 1, secret: true };

/** A value that never prints: a `Secret` once loaded. */
export const secretText = (description: string) => Type.Optional(Type.Unsafe<Secret>({ ...SECRET, description }));

/** One that has to be there where its section is. */
export const requiredSecret = (description: string) => Type.Unsafe<Secret>({ ...SECRET, description });

export const namedSecrets = (namePattern: string, description: string) =>
  named(namePattern, Type.Unsafe<Secret>(SECRET), description);

/** Timers overflow a little above this, and would then fire at once. */
const MAX_DURATION_MS = 24 * 86_400_000;

/** Milliseconds, or text such as "30s", "5m", "2h", "1d". A number once loaded. */
export const duration = ({ minimum, ...byDefault }: Range, description: string) =>
  Type.Unsafe<number>({
    anyOf: [
      { type: "integer", minimum, maximum: MAX_DURATION_MS },
      { type: "string", pattern: "^[0-9]+(ms|s|m|h|d)$" },
    ],
    duration: true,
    ...byDefault,
    minimum,
    maximum: MAX_DURATION_MS,
    expects: `a whole number of milliseconds from ${minimum} to ${MAX_DURATION_MS}, or text such as "30s", "5m" or "2h"`,
    description,
  });

/** A file or folder; `~` is the home of the gateway's user, and what is relative starts where the gateway was started. */
export const path = (description: string) => Type.Optional(text({ maxLength: 4096 }, description));

const HOST = "^(\\*\\.)?[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$";

/** `byDefault`: null, when what is left out is taken from elsewhere. */
export const network = (description: string, byDefault: NetworkSetting | null = "none") =>
  Type.Unsafe<NetworkSetting>(networkSchema(["none", "all"], description, byDefault));

/** For programs that may speak something else than HTTP. */
export const programNetwork = (description: string) =>
  Type.Unsafe<NetworkSetting | "machine">(networkSchema(["none", "all", "machine"], description, "none"));

const networkSchema = (words: readonly string[], description: string, byDefault: NetworkSetting | null) => ({
  anyOf: [
    ...words.map((word) => ({ const: word, type: "string" })),
    {
      type: "object",
      properties: {
        allow: {
          type: "array",
          items: { type: "string", pattern: HOST, expects: "the name of a host" },
          maxItems: 1000,
        },
        ask: { type: "boolean" },
      },
      required: ["allow"],
      additionalProperties: false,
    },
  ],
  expects: `${words.map((word) => `"${word}"`).join(", ")}, or { "allow": [names of hosts] }, with "ask": true to be asked about others`,
  ...(byDefault === null ? {} : { default: byDefault }),
  security: true,
  description,
});

/** A folder, and whether everybody works in it or each person in one of their own below it. */
export type Workspace = string | { readonly path?: string; readonly scope?: "agent" | "person" };

export const workspace = (description: string) =>
  Type.Optional(
    Type.Unsafe<Workspace>({
      anyOf: [
        { type: "string", maxLength: 4096 },
        {
          type: "object",
          properties: {
            path: { type: "string", maxLength: 4096 },
            scope: choice({ of: ["agent", "person"] }, "Whose folder it is."),
          },
          additionalProperties: false,
        },
      ],
      expects: 'a path, or { "path": …, "scope": "agent" or "person" }',
      security: true, // a misspelt scope would put people into one folder
      description,
    }),
  );

export const pathList = (options: Default<string[]>, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 64, ...options, description });

/** On, off, or words of one's own. */
export const flagOrText = (options: Default<boolean>, description: string) =>
  Type.Unsafe<boolean | string>({
    anyOf: [{ type: "boolean" }, { type: "string", minLength: 1, maxLength: 20_000 }],
    expects: "true, false, or text of at most 20000 characters",
    ...options,
    description,
  });

/** A group of settings with defaults: it may be left out as a whole. */
export const closed = { additionalProperties: false, default: {} } as const;
