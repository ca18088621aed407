/** Takes secrets out of a value and leaves its form, so that what is stored can still be read back. */

/** A value under such a name is a secret whatever it looks like. */
const SECRET_NAME =
  /^(?:.*[_-])?(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|authorization|cookie)$/i;
const CAMEL_SECRET_NAME = /(?:Token|Secret|Password|ApiKey|AccessKey|PrivateKey|Cookie)$/;
const MASK = "[redacted]";

export function scrubJson(value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map((item: unknown) => scrubJson(item, scrub));
  if (typeof value !== "object" || value === null) return value;
  const clean = Object.entries(value).map(([key, below]: [string, unknown]) => {
    const hidden = isSecretName(key) && (typeof below === "string" || typeof below === "number");
    return [scrub(key), hidden ? MASK : scrubJson(below, scrub)] as const;
  });
  return Object.fromEntries(clean);
}

function isSecretName(key: string): boolean {
  return SECRET_NAME.test(key) || CAMEL_SECRET_NAME.test(key);
}
