/** `${NAME}` in a text → the environment variable. Works on parsed texts only, so a value cannot bring in JSON of its own. */
type Substituted =
  | { readonly kind: "text"; readonly text: string; readonly fromVariable: boolean }
  | { readonly kind: "unset"; readonly name: string }
  | { readonly kind: "malformed" };

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]{0,254})\}|\$\{/g;

/** `$${` gives a literal `${`. */
export function substitute(text: string, variables: (name: string) => string | undefined): Substituted {
  if (!text.includes("${")) return { kind: "text", text, fromVariable: false };
  let out = "";
  let end = 0;
  let fromVariable = false;
  for (const match of text.matchAll(REFERENCE)) {
    out += text.slice(end, match.index);
    end = match.index + match[0].length;
    if (match[0] === "$${") {
      out += "${";
      continue;
    }
    const name = match[1];
    if (name === undefined) return { kind: "malformed" };
    const value = variables(name);
    if (value === undefined) return { kind: "unset", name };
    out += value;
    fromVariable = true;
  }
  return { kind: "text", text: out + text.slice(end), fromVariable };
}
