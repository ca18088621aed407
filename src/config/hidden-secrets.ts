/**
 * The text of a configuration file without its secrets, for an editor that may write them and never read them; and the way back: what is
 * still hidden when the text returns is what the file has in the same place. Pure.
 */
import type { ConfigProblem } from "./check/problem.ts";
import { alternativeFor, recordOf, rootSchema, type SchemaNode } from "./schema-node.ts";
import { parseText, type Tree, withoutBom } from "./check/tree.ts";

/** In the place of a secret. */
const HIDDEN_VALUE = "(hidden)";

interface SecretPlace {
  /** Names and numbers of list entries from the root on. */
  readonly path: readonly string[];
  readonly offset: number;
  /** As it is written, with its quotes. */
  readonly literal: string;
}

/** Null: the text is not JSONC, and nobody can tell what in it is secret. */
export function hideSecrets(text: string): string | null {
  const places = secretPlaces(text);
  return places && replaced(text, places, () => JSON.stringify(HIDDEN_VALUE));
}

interface Restored {
  readonly text: string;
  /** What is hidden where the file has nothing to put there. */
  readonly problems: readonly ConfigProblem[];
}

/** `original`: the text of the file. A text that is not JSONC comes back as it is: whoever checks it says why. */
export function restoreSecrets(text: string, original: string): Restored {
  const { positionOf } = parseText(withoutBom(text));
  const known = new Map((secretPlaces(original) ?? []).map(({ path, literal }) => [JSON.stringify(path), literal]));
  const hidden = (secretPlaces(text) ?? []).filter(({ literal }) => literal === JSON.stringify(HIDDEN_VALUE));
  const problems = hidden
    .filter(({ path }) => !known.has(JSON.stringify(path)))
    .map(({ path, offset }) => ({
      path: path.join("."),
      ...positionOf(offset),
      message: `${path.join(".")} is hidden, and the file has no value there that could stay. Write the value itself.`,
    }));
  return { text: replaced(text, hidden, ({ path, literal }) => known.get(JSON.stringify(path)) ?? literal), problems };
}

/** `places`: in the order of the text. */
function replaced(text: string, places: readonly SecretPlace[], by: (place: SecretPlace) => string): string {
  let out = "";
  let end = 0;
  for (const place of places) {
    out += text.slice(end, place.offset) + by(place);
    end = place.offset + place.literal.length;
  }
  return out + text.slice(end);
}

function secretPlaces(given: string): readonly SecretPlace[] | null {
  const text = withoutBom(given);
  const bomChars = given.length - text.length;
  const { tree } = parseText(text);
  if (!tree) return null;
  const found: SecretPlace[] = [];
  const note = (offset: number, path: readonly string[]) =>
    found.push({ path, offset: offset + bomChars, literal: literalAt(text, offset) });
  walk({ schema: rootSchema(), path: [] }, tree, note);
  return found;
}

interface Spot {
  /** Null: no setting belongs here. A misspelt name may hold a secret. */
  readonly schema: SchemaNode | null;
  readonly path: readonly string[];
}

type Note = (offset: number, path: readonly string[]) => void;

function walk({ schema, path }: Spot, tree: Tree, note: Note): void {
  const meant = schema && !schema.free ? (alternativeFor(schema, tree.kind) ?? schema) : null;
  switch (tree.kind) {
    case "object": {
      const record = meant && recordOf(meant);
      for (const [key, { value }] of tree.entries)
        walk({ schema: meant?.properties?.[key] ?? record?.value ?? null, path: [...path, key] }, value, note);
      return;
    }
    case "array":
      for (const [at, item] of tree.items.entries())
        walk({ schema: meant?.items ?? null, path: [...path, String(at)] }, item, note);
      return;
    case "text":
      if (isSecretText(meant, tree.value)) note(tree.offset, path);
      return;
    default: // numbers, true, false and null say nothing that has to be hidden
  }
}

const VARIABLE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;
const USER_INFO = /:\/\/[^/?#\s]*@/;

/** The name of a variable is no secret, and a plugin's settings are all treated as one: nobody here knows which of them are. */
function isSecretText(schema: SchemaNode | null, value: string): boolean {
  if (value === "" || VARIABLE.test(value)) return false;
  return schema === null || schema.secret === true || USER_INFO.test(value) || value === HIDDEN_VALUE;
}

function literalAt(text: string, offset: number): string {
  const literal = /"(?:[^"\\]|\\.)*"/y;
  literal.lastIndex = offset;
  return literal.exec(text)?.[0] ?? "";
}
