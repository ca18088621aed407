/** Secrets: values that cannot print, and the way of text to people without them. */

/** Every way of turning it into text gives `[redacted]`. Only `reveal` opens it. */
export interface Secret {
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

const REDACTED = "[redacted]";
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

export function secret(value: string): Secret {
  const made = {
    reveal: () => value,
    toString: () => REDACTED,
    toJSON: () => REDACTED,
    [Symbol.toPrimitive]: () => REDACTED,
    [INSPECT]: () => REDACTED,
  };
  return Object.freeze(made);
}

export function isSecret(value: unknown): value is Secret {
  return typeof value === "object" && value !== null && INSPECT in value && "reveal" in value;
}

/** Takes known secrets out of what people are to read: exact values, in every form they travel in. What merely looks like one stays. */
export interface SecretMask {
  text(text: string): string;
  /** The beginning of a text, unmasked. A secret that the cut would part is left out whole: nothing knows the half of one any more. */
  cut(text: string, maxChars: number): string;
  /** For text that arrives in pieces: no piece shows a secret, however it was cut. */
  stream(): MaskedStream;
}

export interface MaskedStream {
  /** What can be shown by now. Held back is only what could be the beginning of a secret. */
  push(piece: string): string;
  /** What is left; call it when no more pieces come. */
  flush(): string;
}

/** Where no secrets are known. */
export const NO_MASK: SecretMask = {
  text: (text) => text,
  cut: (text, maxChars) => text.slice(0, maxChars).toWellFormed(),
  stream: () => ({ push: (piece) => piece, flush: () => "" }),
};

/** The same value with every text in it masked, names of fields included. */
export function maskTexts(value: unknown, { text }: Pick<SecretMask, "text">): unknown {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return value.map((item: unknown) => maskTexts(item, { text }));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, below]) => [text(key), maskTexts(below, { text })]));
}
