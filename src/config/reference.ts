/** The schema for editors and the reference page for people, both made from the one schema. Writes nothing. */
import { showDuration } from "../kit/duration.ts";
import { choicesOf, recordOf, rootSchema, type SchemaNode } from "./schema-node.ts";

const VARIABLE_TEXT = { type: "string", pattern: "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}" };
const OWN_MARKS = new Set(["secret", "security", "duration", "expects", "free"]);

/** Plain JSON Schema. Everything with a default may be left out, and a variable may stand for any single value. */
export function configJsonSchema(): object {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    allowComments: true,
    allowTrailingCommas: true,
    ...editorSchema(rootSchema()),
  };
}

function editorSchema(schema: SchemaNode): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [word, value] of Object.entries(schema)) {
    if (!OWN_MARKS.has(word)) out[word] = value;
  }
  if (schema.secret) out.writeOnly = true;
  if (schema.properties) {
    out.properties = mapValues(schema.properties, editorSchema);
    out.required = schema.required?.filter((key) => schema.properties?.[key]?.default === undefined) ?? [];
  }
  if (schema.patternProperties) {
    out.patternProperties = mapValues(schema.patternProperties, editorSchema);
    out.additionalProperties = false;
  }
  if (schema.items) out.items = editorSchema(schema.items);
  if (schema.anyOf && !schema.duration && !choicesOf(schema)) out.anyOf = schema.anyOf.map(editorSchema);
  return takesVariable(schema) ? orVariable(out) : out;
}

/** Free text takes `${NAME}` anyway; these would otherwise be underlined as wrong. */
function takesVariable(schema: SchemaNode): boolean {
  if (schema.duration || choicesOf(schema) || schema.type === "integer") return true;
  return schema.type === "string" && schema.pattern !== undefined;
}

function orVariable(schema: Record<string, unknown>): Record<string, unknown> {
  const { default: byDefault, description, minimum, maximum, ...check } = schema;
  const limited = {
    ...check,
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
  const alternatives = Array.isArray(check.anyOf) ? check.anyOf : [limited];
  return {
    ...(description === undefined ? {} : { description }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
    anyOf: [...alternatives, VARIABLE_TEXT],
  };
}

function mapValues(
  group: Readonly<Record<string, SchemaNode>>,
  change: (schema: SchemaNode) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(group).map(([key, value]) => [key, change(value)]));
}

const PAGE_HEAD = `# Configuration reference

Made from \`src/config/schema.ts\`; change it there. How the file is found, checked and reloaded is in [the guide](../config.md).
`;

/** Markdown: one table per section. */
export function renderConfigReference(): string {
  const sections = Object.entries(rootSchema().properties ?? {}).filter(
    ([, section]) => section.properties ?? section.items,
  );
  const pages = sections.map(([name, section]) => {
    const strict = section.security ? "\n\nUnknown keys in this section are refused." : "";
    return `## ${name}\n\n${section.description ?? ""}${strict}\n\n${table(section, name)}\n`;
  });
  return [PAGE_HEAD, ...pages].join("\n");
}

function table(section: SchemaNode, name: string): string {
  const rowsHere = section.items ? rowsOf(section.items, `${name}[]`) : rowsOf(section, name);
  const rows = rowsHere.map((cells) => `| ${cells.map(cell).join(" | ")} |`);
  return ["| Key | Value | Default | What it does |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

function rowsOf(schema: SchemaNode, path: string): readonly (readonly string[])[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([key, below]) => {
    const at = `${path}.${key}`;
    const record = recordOf(below);
    if (record) {
      const { items } = record.value;
      const entries = items?.properties ? rowsOf(items, `${at}.NAME[]`) : rowsOf(record.value, `${at}.NAME`);
      return [rowOf(below, at, false), ...entries];
    }
    if (below.items?.properties) return [rowOf(below, at, required.has(key)), ...rowsOf(below.items, `${at}[]`)];
    if (below.properties) return rowsOf(below, at);
    return [rowOf(below, at, required.has(key))];
  });
}

function rowOf(schema: SchemaNode, path: string, required: boolean): readonly string[] {
  return [`\`${path}\``, kindText(schema), defaultText(schema, required), schema.description ?? ""];
}

function kindText(schema: SchemaNode): string {
  if (schema.secret) return "secret text";
  if (schema.duration) return durationText(schema);
  const choices = choicesOf(schema);
  if (choices) return choices.map((choice) => `\`"${choice}"\``).join(", ");
  if (schema.anyOf) return schema.anyOf.map((one) => kindText(one)).join(", ");
  if (typeof schema.const === "string") return `\`"${schema.const}"\``;
  if (schema.type === "integer" || schema.type === "number") return numberText(schema);
  if (schema.type === "boolean") return "`true`, `false`";
  if (schema.type === "array") return listText(schema);
  if (schema.type === "string") return textText(schema);
  const record = schema.free ? null : recordOf(schema);
  return record && !record.value.free && !holdsRows(record.value)
    ? `named entries, each ${kindText(record.value)}`
    : "named entries";
}

/** Its parts are rows of their own. */
const holdsRows = (schema: SchemaNode): boolean => Boolean(schema.properties ?? schema.items?.properties);

function listText({ items, minItems = 0, maxItems }: SchemaNode): string {
  const least = minItems > 0 ? `, at least ${minItems}` : "";
  const each = items && !items.properties ? `, each ${kindText(items)}` : ""; // what is in a group has rows of its own
  return `list${least}${upTo(maxItems, "entries")}${each}`;
}

function textText({ expects, minLength = 0, maxLength }: SchemaNode): string {
  const least = minLength > 1 ? `, at least ${minLength} characters` : minLength === 1 ? ", not empty" : "";
  const most = expects?.includes("characters") ? "" : upTo(maxLength, "characters");
  const what = (expects ?? "text").replaceAll(/"[^"]*[*_][^"]*"/g, "`$&`"); // these signs mean something in Markdown
  return `${what}${least}${most}`;
}

function durationText({ minimum }: SchemaNode): string {
  if (minimum === undefined) return "duration";
  return minimum === 0 ? "duration, 0 or more" : `duration, at least ${showDuration(minimum)}`;
}

function upTo(most: number | undefined, what: string): string {
  return most === undefined ? "" : `, up to ${most} ${what}`;
}

function numberText({ type, minimum, maximum }: SchemaNode): string {
  const kind = type === "integer" ? "whole number" : "number";
  if (minimum === undefined) return kind;
  return maximum === undefined ? `${kind}, at least ${minimum}` : `${kind}, ${minimum} to ${maximum}`;
}

function defaultText(schema: SchemaNode, required: boolean): string {
  if (schema.default === undefined) return required ? "(needed)" : "";
  if (schema.duration && typeof schema.default === "number") return `\`"${showDuration(schema.default)}"\``;
  return `\`${JSON.stringify(schema.default)}\``;
}
