/** How a secret looks in text: plain, escaped, encoded. Pure. */

/** Every form has at least this many characters, so that one lookup per position finds the candidates. */
export const MIN_FORM_CHARS = 8;
/** Models put a backslash before what Markdown would eat: underscores, stars too, or all punctuation. */
const MARKDOWN: readonly RegExp[] = [/_/g, /[_*]/g, /[!-/:-@[-`{-~]/g];

/**
 * In plain text and Markdown, both also in JSON and in JSON within JSON; in URLs and forms, in HTML, in hex, and inside base64 of either alphabet.
 * Longer than the secret itself at most six times.
 */
export function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const json = inJson(value);
  const url = encodeURIComponent(value);
  const strictUrl = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const lowerHex = (text: string) => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
  const hex = bytes.toString("hex");
  const forms = [
    value,
    value.trim(),
    json,
    inJson(json),
    json.replaceAll("/", "\\/"),
    ...[url, strictUrl, url.replaceAll("%20", "+")].flatMap((form) => [form, lowerHex(form)]),
    ...MARKDOWN.map((marks) => value.replace(marks, "\\$&")).flatMap((form) => [
      form,
      inJson(form),
      inJson(inJson(form)),
    ]),
    value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    hex,
    hex.toUpperCase(),
    ...base64Cores(bytes).flatMap((core) => [core, core.replaceAll("+", "-").replaceAll("/", "_")]),
  ];
  return [...new Set(forms)].filter((form) => form.length >= MIN_FORM_CHARS);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Base64 depends on where a value starts within a group of three bytes. These are the characters that are the same whatever stands around it. */
function base64Cores(bytes: Buffer): readonly string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
}
