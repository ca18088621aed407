/** Tells a usable token, password or key from one that anybody would try first. Answers with a reason, never with the value. */
const MIN_TOKEN_CHARS = 22;
const MIN_PASSWORD_CHARS = 12;
const MAX_CREDENTIAL_CHARS = 512;
const MIN_DIFFERENT_CHARS = 5;
const MAX_STEPPED_SHARE = 0.8;

const PLACEHOLDER_PARTS = [
  "changeme",
  "changethis",
  "replaceme",
  "replacethis",
  "placeholder",
  "yourtoken",
  "yourpassword",
  "yoursecret",
  "tokenhere",
  "passwordhere",
  "secrethere",
];
const PLACEHOLDER_WORDS =
  /^(undefined|null|none|token|password|passwort|secret|test|admin|default|example|gateway|pi|my|your|a|the|[0-9])+$/;

/** What is wrong with it, to stand after "gateway.auth.token"; null when nothing is. */
export function weakToken(token: string): string | null {
  if (token.length < MIN_TOKEN_CHARS) return `is too short; it must have at least ${MIN_TOKEN_CHARS} characters`;
  if (token.length > MAX_CREDENTIAL_CHARS)
    return `is too long; it must have at most ${MAX_CREDENTIAL_CHARS} characters`;
  if (!/^[\x21-\x7e]+$/.test(token)) return "has a space or another character that cannot travel in a header";
  return isPlaceholder(token) ? "looks like a placeholder, which anybody would try first" : null;
}

export function weakPassword(password: string): string | null {
  if (password.length < MIN_PASSWORD_CHARS)
    return `is too short; it must have at least ${MIN_PASSWORD_CHARS} characters`;
  if (password.length > MAX_CREDENTIAL_CHARS)
    return `is too long; it must have at most ${MAX_CREDENTIAL_CHARS} characters`;
  return isPlaceholder(password) ? "looks like a placeholder, which anybody would try first" : null;
}

function isPlaceholder(value: string): boolean {
  if (new Set(value).size < MIN_DIFFERENT_CHARS) return true;
  const letters = value.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (PLACEHOLDER_PARTS.some((part) => letters.includes(part)) || PLACEHOLDER_WORDS.test(letters)) return true;
  return steppedShare(value) > MAX_STEPPED_SHARE;
}

/** How much of it runs along the alphabet or the digits, as in "abcdefgh" or "87654321". */
function steppedShare(value: string): number {
  let stepped = 0;
  for (let at = 1; at < value.length; at++) {
    const step = Math.abs(value.charCodeAt(at) - value.charCodeAt(at - 1));
    if (step <= 1 || step === 9) stepped++; // 9: from 9 back to 0
  }
  return stepped / Math.max(1, value.length - 1);
}

/** The low 255 bits, little endian, of each point whose order divides 8, with the two other ways to write 0 and 1. The highest bit is the sign. */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);
const SIGN = 0x80;

/**
 * An Ed25519 key that anybody can sign for: a point of small order makes some signature right for every message. `hex`: 64 digits.
 */
export function isSmallOrderKey(hex: string): boolean {
  const bytes = Buffer.from(hex, "hex");
  const last = bytes.at(-1) ?? 0;
  bytes[bytes.length - 1] = last & ~SIGN;
  return SMALL_ORDER.has(bytes.toString("hex"));
}
