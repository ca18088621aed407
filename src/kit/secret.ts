/** A value that cannot print: every way of turning it into text gives `[redacted]`. Only `reveal` opens it. */
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
