/** Names as models write them, made the gateway's own once, before anything is decided: policy and tool read the same parameter. */
import { isObject } from "../../kit/json.ts";

/** Tools and parameters under the names that some models were trained with. */
const OTHER_TOOL_NAMES: Readonly<Record<string, string>> = {
  Bash: "bash",
  Read: "read",
  Write: "write",
  Edit: "edit",
  Grep: "grep",
  Glob: "find",
  LS: "ls",
};
const OTHER_PARAM_NAMES: Readonly<Record<string, string>> = {
  file_path: "path",
  filePath: "path",
  old_string: "oldText",
  oldString: "oldText",
  new_string: "newText",
  newString: "newText",
};

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/^_/, "");
const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const kebab = (name: string): string => name.replaceAll("_", "-");

/** The name itself when it is known, else the known one it stands for, else the name itself. */
export function knownName(name: string, isKnown: (name: string) => boolean): string {
  if (isKnown(name)) return name;
  const other = Object.hasOwn(OTHER_TOOL_NAMES, name) ? OTHER_TOOL_NAMES[name] : undefined;
  return [other, snake(name), kebab(name)].find((candidate) => candidate !== undefined && isKnown(candidate)) ?? name;
}

/** Other spellings under which `knownName` finds this tool. */
export function otherToolNames(name: string): readonly string[] {
  const learnt = Object.keys(OTHER_TOOL_NAMES).filter((other) => OTHER_TOOL_NAMES[other] === name);
  const underscored = name.replaceAll("-", "_");
  return [...new Set([camel(name), underscored, ...learnt])].filter((other) => other !== name);
}

type Named =
  | { readonly ok: true; readonly params: unknown }
  /** Two spellings of one parameter: which one counts would be a guess. */
  | { readonly ok: false; readonly given: string; readonly known: string };

/** Only what the schema does not know is renamed, and only to what it knows. */
export function knownParams(params: unknown, schema: Readonly<Record<string, unknown>> | null): Named {
  const properties = schema?.["properties"];
  if (!isObject(params) || !isObject(properties)) return { ok: true, params };
  const renamed: [string, unknown][] = [];
  for (const [given, value] of Object.entries(params)) {
    const known = Object.hasOwn(properties, given) ? given : meant(given, properties);
    if (known !== given && Object.hasOwn(params, known)) return { ok: false, given, known };
    if (renamed.some(([name]) => name === known)) return { ok: false, given, known };
    renamed.push([known, value]);
  }
  return { ok: true, params: Object.fromEntries(renamed) };
}

function meant(given: string, properties: object): string {
  const other = Object.hasOwn(OTHER_PARAM_NAMES, given) ? OTHER_PARAM_NAMES[given] : undefined;
  return (
    [snake(given), camel(given), other].find((name) => name !== undefined && Object.hasOwn(properties, name)) ?? given
  );
}
