/**
 * Patterns that cannot be run (RE2 has no lookahead, and some are too large) and are left out of a schema's checks, instead of costing the
 * tool. Leaving a rule out must only ever allow more: where it could turn a right call into a wrong one, the schema is refused as a whole.
 */
import { isObject } from "../../../kit/json.ts";
import { type Schema, type SchemaNode, subschemasOf } from "../../../kit/schema/keywords.ts";

interface UnrunnablePattern {
  readonly source: string;
  /** Where it is and why it cannot be run, without the full stop. */
  readonly sentence: string;
  /** Not even a regular expression of JavaScript: agents could not read the schema either. */
  readonly isBroken: boolean;
}

export interface LeftOut {
  /** Takes the pattern out of this node, which must be a copy of our own. */
  add(node: SchemaNode, pattern: UnrunnablePattern): void;
  /** Changes what would no longer mean the same without the patterns. A sentence when that cannot be done. */
  loosen(nodes: Iterable<SchemaNode>): string | null;
  notices(): readonly string[];
  withoutBroken(given: SchemaNode): SchemaNode | null;
}

type Own = Record<string, unknown>;

/** Inside these, allowing more would allow less as a whole. */
const NEGATING = ["not", "if", "maxContains"];

export function createLeftOut(): LeftOut {
  const found: UnrunnablePattern[] = [];
  return {
    add(node, pattern) {
      if (!found.some(({ sentence }) => sentence === pattern.sentence)) found.push(pattern);
      takeOut(node, pattern.source);
    },
    loosen(nodes) {
      const [first] = found;
      if (!first) return null;
      for (const node of nodes) {
        if (NEGATING.some((keyword) => Object.hasOwn(node, keyword))) return `${first.sentence}.`;
        anyInsteadOfOne(node);
      }
      return null;
    },
    notices: () => found.map(({ sentence }) => `${sentence}. It is not checked.`),
    withoutBroken(given) {
      const broken = new Set(found.flatMap(({ source, isBroken }) => (isBroken ? [source] : [])));
      return broken.size === 0 ? null : without(structuredClone(given), broken);
    },
  };
}

/** Without a pattern of names nobody can say which other names are additional ones. */
function takeOut(node: SchemaNode, source: string): void {
  const own = node as Own;
  if (own.pattern === source) delete own.pattern;
  if (!isObject(own.patternProperties) || !Object.hasOwn(own.patternProperties, source)) return;
  delete (own.patternProperties as Own)[source];
  delete own.additionalProperties;
  delete own.unevaluatedProperties;
}

/** With fewer rules several forms may fit where exactly one did. */
function anyInsteadOfOne(node: SchemaNode): void {
  const own = node as Own;
  if (!Array.isArray(own.oneOf)) return;
  const forms = { anyOf: own.oneOf };
  delete own.oneOf;
  own.allOf = [...(Array.isArray(own.allOf) ? own.allOf : []), forms];
}

function without(node: SchemaNode, sources: ReadonlySet<string>): SchemaNode {
  for (const source of sources) takeOut(node, source);
  for (const { schema } of subschemasOf(node)) if (isObject(schema as Schema)) without(schema as SchemaNode, sources);
  return node;
}
