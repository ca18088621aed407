/** Takes secrets out of text from a process. Known values go first; shapes that look like a key go too, because a stack trace may hold any. */
const MIN_SECRET_CHARS = 6;
const KEY_LIKE =
  /\b(sk|pk|rk|key|ghp|gho|pgw|xox[abp])[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\b(Bearer)\s+[A-Za-z0-9._~+/=-]{8,}/g;

export function redact(text: string, secrets: readonly string[]): string {
  const known = secrets
    .filter((value) => value.length >= MIN_SECRET_CHARS)
    .reduce((rest, value) => rest.replaceAll(value, "[redacted]"), text);
  return known.replace(KEY_LIKE, "[redacted]");
}
