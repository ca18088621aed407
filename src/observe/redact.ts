/** Takes secrets out of text before it is written: values that are known to be secret, in every form they travel in, and shapes that usually are. */
import type { Secret } from "../kit/secret.ts";

export interface Redactor {
  /** From now on this value is scrubbed. Dispose when the secret is dead; shorter than 8 characters is ignored. */
  add(secret: Secret): Disposable;
  scrub(text: string): string;
}

/** Shorter values would take ordinary words out of the log. */
const MIN_SECRET_CHARS = 8;
const MAX_SECRETS = 1_000;
/** Every form has at least this many characters, so that one lookup per position finds the candidates. */
const KEY_CHARS = 8;
const MASK = "[redacted]";

/** Each keeps what names the secret and masks the rest. Quantifiers are bounded: a long line costs no more than its length. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]{0,20000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, MASK],
  [/\b(Bearer|Basic)(\s{1,8})[A-Za-z0-9._~+/=-]{8,4096}/gi, `$1$2${MASK}`],
  [/\b(?:sk|pk|rk|gsk|xai|glpat|npm|hf|whsec)[-_][A-Za-z0-9_-]{12,512}/g, MASK],
  [/\b(?:gh[opsur]_|github_pat_|xox[abeoprs]-|AIza|AKIA|ASIA)[A-Za-z0-9_-]{12,512}/g, MASK],
  [/\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}/g, MASK],
  [/\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b/g, MASK],
  [/(:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,512}@/g, `$1${MASK}@`],
  [/([?&#](?:key|code|sig|signature|auth)=)[^\s&#"'\\]{4,4096}/gi, `$1${MASK}`],
  [/\b(key=)[^\s&#"'\\,;]{8,4096}/gi, `$1${MASK}`],
  [
    /((?:token|secret|password|passwd|api[_-]?key|access[_-]?key|authorization|cookie)(?:\\?["'])?\s{0,4}[=:]\s{0,4}(?:\\?["'])?)(?!\[redacted\]|Bearer |Basic )[^\s&"'\\,;]{6,4096}/gi,
    `$1${MASK}`,
  ],
];

export function createRedactor(): Redactor {
  const secrets = new Map<object, readonly string[]>();
  let byKey = new Map<string, string[]>();

  const rebuild = (): void => {
    byKey = new Map();
    for (const form of new Set([...secrets.values()].flat())) {
      const key = form.slice(0, KEY_CHARS);
      byKey.set(
        key,
        [...(byKey.get(key) ?? []), form].sort((a, b) => b.length - a.length),
      );
    }
  };

  return {
    add(secret) {
      const value = secret.reveal();
      const registration = {};
      if (value.trim().length < MIN_SECRET_CHARS) return { [Symbol.dispose]() {} };
      const oldest = secrets.keys().next();
      if (secrets.size >= MAX_SECRETS && !oldest.done) secrets.delete(oldest.value);
      secrets.set(registration, formsOf(value));
      rebuild();
      return {
        [Symbol.dispose]() {
          if (secrets.delete(registration)) rebuild();
        },
      };
    },
    scrub(text) {
      if (text.length < KEY_CHARS) return text;
      let clean = byKey.size === 0 ? text : scrubKnown(text, byKey);
      for (const [shape, mask] of SHAPES) clean = clean.replace(shape, mask);
      return clean;
    },
  };
}

function scrubKnown(text: string, byKey: ReadonlyMap<string, readonly string[]>): string {
  let clean = "";
  let copied = 0;
  for (let at = 0; at + KEY_CHARS <= text.length; at++) {
    const found = byKey.get(text.slice(at, at + KEY_CHARS))?.find((form) => text.startsWith(form, at));
    if (!found) continue;
    clean += text.slice(copied, at) + MASK;
    at += found.length - 1;
    copied = at + 1;
  }
  return copied === 0 ? text : clean + text.slice(copied);
}

/** The value as it looks in plain text, in JSON (also JSON within JSON), in URLs and forms, in hex, and inside base64 of either alphabet. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const strictUrl = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const lowerHex = (text: string) => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
  const hex = bytes.toString("hex");
  const forms = [
    value,
    value.trim(),
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll("/", "\\/"),
    ...[url, strictUrl, url.replaceAll("%20", "+")].flatMap((form) => [form, lowerHex(form)]),
    hex,
    hex.toUpperCase(),
    ...base64Cores(bytes).flatMap((core) => [core, core.replaceAll("+", "-").replaceAll("/", "_")]),
  ];
  return [...new Set(forms)].filter((form) => form.length >= KEY_CHARS);
}

/** Base64 depends on where a value starts within a group of three bytes. These are the characters that are the same whatever stands around it. */
function base64Cores(bytes: Buffer): readonly string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
}
