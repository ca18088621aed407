/** Addresses of resources: the gateway's own, and those of plugins, which may have names in braces. Pure. */

export const OWN_SCHEME = "pi-gateway://";

export const NOTE = `${OWN_SCHEME}notes/{id}`;
export const TRANSCRIPT = `${OWN_SCHEME}sessions/{key}`;
export const MEDIA = `${OWN_SCHEME}media/{id}`;

export const isTemplate = (uri: string): boolean => uri.includes("{");

/** The address that a template gives for these values. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** What stands for each name in braces; null: the address is not of this form. An address without braces has no values. */
export function match(template: string, uri: string): Readonly<Record<string, string>> | null {
  const names: string[] = [];
  const pattern = template.split(/(\{\w+\})/).map((part) => {
    if (!/^\{\w+\}$/.test(part)) return RegExp.escape(part);
    names.push(part.slice(1, -1));
    return "([^/]+)";
  });
  const found = new RegExp(`^${pattern.join("")}$`).exec(uri);
  if (!found) return null;
  try {
    return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? "")]));
  } catch {
    return null; // half an escape is no address
  }
}
