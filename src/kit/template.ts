/** Text with places for values of a JSON document: `{{path.to.value}}`, and `{{.}}` for all of it. Looks values up; computes nothing. */

interface TemplateLimits {
  /** Of one value. */
  readonly maxValueChars: number;
  readonly maxChars: number;
}

const PLACE = /\{\{([^{}]{0,300})\}\}/g;
const PATH = /^[A-Za-z0-9_$@-]+(\.[A-Za-z0-9_$@-]+)*$/;
const WHOLE = ".";
export const MAX_TEMPLATE_PLACES = 50;

/** What is wrong with a template, to stand after its name; null when nothing is. */
export function templateProblem(template: string): string | null {
  const places = [...template.matchAll(PLACE)].map(([whole, inside = ""]) => ({ whole, path: inside.trim() }));
  const wrong = places.find(({ path }) => path !== WHOLE && !PATH.test(path));
  if (wrong)
    return `has ${wrong.whole}, which is no path; a path is names with dots between them, such as {{build.id}}`;
  if (places.length > MAX_TEMPLATE_PLACES) return `has more than ${MAX_TEMPLATE_PLACES} values in it`;
  const rest = template.replace(PLACE, "");
  return rest.includes("{{") || rest.includes("}}") ? "has {{ or }} without the other half" : null;
}

/** A value that is not there is named, so that nobody takes a gap for an answer. */
export function fillTemplate(template: string, document: unknown, limits: TemplateLimits): string {
  const filled = template.replace(PLACE, (_whole, inside: string) => {
    const path = inside.trim();
    const value = path === WHOLE ? document : valueAt(document, path);
    return value === undefined ? `(no value at ${path})` : shortened(wordsOf(value), limits.maxValueChars);
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

function wordsOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text.toWellFormed();
  return `${text.slice(0, maxChars).toWellFormed()}… (${text.length - maxChars} more characters)`;
}
