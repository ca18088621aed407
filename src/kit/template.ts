/** Text with placeholders for values of a JSON document: `{{path.to.value}}`, and `{{.}}` for all of it. Looks values up; computes nothing. */

interface TemplateLimits {
  /** Of one value. */
  readonly maxValueChars: number;
  readonly maxChars: number;
}

const PLACEHOLDER = /\{\{([^{}]{0,300})\}\}/g;
const PATH = /^[A-Za-z0-9_$@-]+(\.[A-Za-z0-9_$@-]+)*$/;
const WHOLE = ".";
export const MAX_PLACEHOLDERS = 50;

/** What is wrong with a template, to stand after its name; null when nothing is. */
export function templateProblem(template: string): string | null {
  const placeholders = [...template.matchAll(PLACEHOLDER)].map(([whole, inside = ""]) => ({
    whole,
    path: inside.trim(),
  }));
  const wrong = placeholders.find(({ path }) => path !== WHOLE && !PATH.test(path));
  if (wrong)
    return `has ${wrong.whole}, which is no path; a path is names with dots between them, such as {{build.id}}`;
  if (placeholders.length > MAX_PLACEHOLDERS) return `has more than ${MAX_PLACEHOLDERS} values in it`;
  const rest = template.replace(PLACEHOLDER, "");
  return rest.includes("{{") || rest.includes("}}") ? "has {{ or }} without the other half" : null;
}

/** A value that is not there is named, so that nobody takes a gap for an answer. */
export function fillTemplate(template: string, document: unknown, limits: TemplateLimits): string {
  const filled = template.replace(PLACEHOLDER, (_whole, inside: string) => {
    const path = inside.trim();
    const value = path === WHOLE ? document : valueAt(document, path);
    return value === undefined ? `(no value at ${path})` : shortened(textOf(value), limits.maxValueChars);
  });
  return shortened(filled, limits.maxChars);
}

function valueAt(document: unknown, path: string): unknown {
  let at = document;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  return at;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text.toWellFormed();
  return `${text.slice(0, maxChars).toWellFormed()}… (${text.length - maxChars} more characters)`;
}
