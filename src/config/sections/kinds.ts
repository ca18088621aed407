/** Kinds of values that several sections share. */
import { Type } from "typebox";
import type { Secret } from "../../kit/secret.ts";

const SECRET = { type: "string", minLength: 1, secret: true };

/** A value that never prints: a `Secret` once loaded. */
export const secretText = (description: string) => Type.Optional(Type.Unsafe<Secret>({ ...SECRET, description }));

/** Several of them, by names that the file's author chooses. */
export const namedSecrets = (namePattern: string, description: string) =>
  Type.Record(Type.String({ pattern: namePattern }), Type.Unsafe<Secret>(SECRET), { default: {}, description });

/** Timers overflow a little above this, and would then fire at once. */
export const MAX_DURATION_MS = 24 * 86_400_000;

/** Milliseconds, or text such as "30s", "5m", "2h", "1d". A number once loaded. */
export const duration = (byDefault: number, minimum: number, description: string) =>
  Type.Unsafe<number>({
    anyOf: [
      { type: "integer", minimum, maximum: MAX_DURATION_MS },
      { type: "string", pattern: "^[0-9]+(ms|s|m|h|d)$" },
    ],
    duration: true,
    default: byDefault,
    minimum,
    maximum: MAX_DURATION_MS,
    description,
  });

/** The same where it may be left out. */
export const ownDuration = (minimum: number, description: string) =>
  Type.Optional(
    Type.Unsafe<number>({
      anyOf: [
        { type: "integer", minimum, maximum: MAX_DURATION_MS },
        { type: "string", pattern: "^[0-9]+(ms|s|m|h|d)$" },
      ],
      duration: true,
      minimum,
      maximum: MAX_DURATION_MS,
      description,
    }),
  );

/** Files and folders; `~` is the home of the gateway's user, and what is relative starts where the gateway was started. */
export const pathList = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 64, default: [], description });

export const ownPathList = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 64, description }));

const FLAG_OR_TEXT = {
  anyOf: [{ type: "boolean" }, { type: "string", minLength: 1, maxLength: 20_000 }],
  expects: "true, false, or text of at most 20000 characters",
};

/** On, off, or words of one's own. */
export const flagOrText = (description: string) =>
  Type.Unsafe<boolean | string>({ ...FLAG_OR_TEXT, default: true, description });

export const ownFlagOrText = (description: string) =>
  Type.Optional(Type.Unsafe<boolean | string>({ ...FLAG_OR_TEXT, description }));

export const closed = { additionalProperties: false, default: {} } as const;
