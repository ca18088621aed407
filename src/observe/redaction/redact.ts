/** Takes secrets out of text before it is written: values that are known to be secret, in every form they travel in, and shapes that usually are. */
import type { Secret, SecretMask } from "../../kit/secret.ts";
import { formsOf } from "./secret-forms.ts";
import { createMaskedStream, createSecretMatcher, MASK, type SecretMatcher } from "./secret-matcher.ts";

export interface Redactor {
  /** From now on this value is scrubbed. Dispose when the secret is dead; shorter than 8 characters is ignored. */
  add(secret: Secret): Disposable;
  /** For what is written down: known values, and shapes that usually are secret. */
  scrub(text: string): string;
  /** For what people read: known values only. */
  readonly mask: SecretMask;
}

/** Shorter values would take ordinary words out of the log. */
const MIN_SECRET_CHARS = 8;
const MAX_SECRETS = 1_000;

/** Each keeps what names the secret and masks the rest. Quantifiers are bounded: a long line costs no more than its length. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]{0,20000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, MASK],
  [/\b(Bearer|Basic)(\s{1,8})[A-Za-z0-9._~+/=-]{8,4096}/gi, `$1$2${MASK}`],
  [/\b(?:sk|pk|rk|gsk|xai|glpat|npm|hf|whsec)[-_][A-Za-z0-9_-]{12,512}/g, MASK],
  [/\b(?:gh[opsur]_|pgw_|github_pat_|xox[abeoprs]-|AIza|AKIA|ASIA)[A-Za-z0-9_-]{12,512}/g, MASK],
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

/** One value, however often it is handed over: a reload brings the same ones again, and must not push out any other. */
interface HiddenSecret {
  readonly forms: readonly string[];
  /** How many handed it over and have not taken it back. */
  users: number;
}

export function createRedactor(): Redactor {
  const secrets = new Map<string, HiddenSecret>();
  let matcher: SecretMatcher | null = null;
  /** Made when it is needed: agents and their tokens come and go more often than anybody speaks. */
  const current = (): SecretMatcher =>
    (matcher ??= createSecretMatcher([...secrets.values()].flatMap(({ forms }) => forms)));
  const maskText = (text: string): string => current().scan(text, false).clean;
  const cutText = (text: string, maxChars: number): string => {
    if (text.length <= maxChars) return text;
    const begins = text.slice(0, maxChars);
    return begins.slice(0, begins.length - current().scan(begins, true).held.length).toWellFormed();
  };

  return {
    add(secret) {
      const value = secret.reveal();
      if (value.trim().length < MIN_SECRET_CHARS) return { [Symbol.dispose]() {} };
      const known = secrets.get(value);
      const hidden = known ?? { forms: formsOf(value), users: 0 };
      hidden.users++;
      let used = true;
      if (!known) {
        const oldest = secrets.keys().next();
        if (secrets.size >= MAX_SECRETS && !oldest.done) secrets.delete(oldest.value);
        secrets.set(value, hidden);
        matcher = null;
      }
      return {
        [Symbol.dispose]() {
          if (!used) return;
          used = false;
          hidden.users--;
          if (hidden.users > 0 || secrets.get(value) !== hidden) return;
          secrets.delete(value);
          matcher = null;
        },
      };
    },
    scrub(text) {
      let clean = maskText(text);
      for (const [shape, mask] of SHAPES) clean = clean.replace(shape, mask);
      return clean;
    },
    mask: { text: maskText, cut: cutText, stream: () => createMaskedStream(current) },
  };
}
