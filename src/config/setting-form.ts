/** What each setting takes, read from the schema: a form is made from it. Pure. */
import type { SettingForm } from "../contracts/config-api.ts";
import { showDuration } from "../kit/duration.ts";
import { choicesOf, holdsSecret, recordOf, rootSchema, type SchemaNode } from "./schema-node.ts";

/** Dotted paths of the schema, without those of lists and of names that the file's author chooses. */
export function schemaPaths(): readonly string[] {
  return pathsOf(rootSchema(), "");
}

function pathsOf(schema: SchemaNode, path: string): readonly string[] {
  if (!schema.properties || schema.free) return path === "" ? [] : [path];
  return Object.entries(schema.properties).flatMap(([key, below]) =>
    key === "$schema" ? [] : pathsOf(below, path === "" ? key : `${path}.${key}`),
  );
}

interface DescribedSetting {
  readonly form: SettingForm;
  readonly about: string;
}

/** `value`: as it is shown. Null: no setting has this path. */
export function describeSetting(path: string, value: unknown): DescribedSetting | null {
  let schema: SchemaNode | undefined = rootSchema();
  let about = "";
  for (const key of path.split(".")) {
    schema = schema.properties?.[key] ?? recordOf(schema)?.value;
    if (!schema) return null;
    about = schema.description ?? about; // members of some groups are described by the group alone
  }
  return { form: formOf(schema, value), about };
}

function formOf(schema: SchemaNode, value: unknown): SettingForm {
  if (schema.secret) return { kind: "secret" };
  if (schema.duration) return { kind: "duration", text: typeof value === "number" ? showDuration(value) : "" };
  const choices = choicesOf(schema);
  if (choices) return { kind: "choice", choices };
  const { type, minimum, maximum, expects, maxLength } = schema;
  if (type === "boolean") return { kind: "flag" };
  if (type === "integer" || type === "number")
    return {
      kind: "number",
      isWhole: type === "integer",
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum === undefined ? {} : { maximum }),
    };
  if (type === "string" && !schema.anyOf)
    return {
      kind: "text",
      ...(expects === undefined ? {} : { expects }),
      ...(maxLength === undefined ? {} : { maxLength }),
    };
  const holdsGroups = schema.items?.properties !== undefined || recordOf(schema) !== null;
  return { kind: "json", inFileOnly: schema.free === true || holdsSecret(schema) || holdsGroups };
}
