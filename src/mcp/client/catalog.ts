/**
 * What is known of a server without starting it: its tools, and which form of each an owner knows. A tool that has changed since, or came later, is
 * to be reviewed: its own words are shown to no model before an owner has approved a call of it. Pure.
 */
import type { McpToolDefinition } from "./definitions.ts";

export interface Catalog {
  /** Of the settings that decide which server it is. Others settings, another server. */
  readonly fingerprint: string;
  /** The protocol that it spoke last; a server of before 2026 is not asked for the newer one again for a day. */
  readonly legacySince: number | null;
  readonly listedAt: number;
  readonly tools: readonly KnownTool[];
  /** Tools that were there and are not now: name and the digest that an owner knows. Some servers add tools a moment after each start. */
  readonly gone: readonly (readonly [name: string, accepted: string])[];
  readonly notices: readonly string[];
}

export interface KnownTool {
  readonly definition: McpToolDefinition;
  /** The digest that an owner knows; null: none. */
  readonly accepted: string | null;
}

const MAX_GONE = 512;

/** Tools of a server whose settings an owner has just written are taken as they are; from then on every change is seen. */
export function mergedTools(
  known: Pick<Catalog, "tools" | "gone"> | null,
  listed: readonly McpToolDefinition[],
): readonly KnownTool[] {
  if (known === null) return listed.map((definition) => ({ definition, accepted: definition.digest }));
  const before = new Map([...known.gone, ...acceptedOf(known.tools)]);
  return listed.map((definition) => ({ definition, accepted: before.get(definition.name) ?? null }));
}

/** What is to be remembered of tools that are not listed any more. */
export function goneTools(
  known: Pick<Catalog, "tools" | "gone"> | null,
  listed: readonly McpToolDefinition[],
): Catalog["gone"] {
  if (known === null) return [];
  const here = new Set(listed.map(({ name }) => name));
  const all = new Map([...known.gone, ...acceptedOf(known.tools)]);
  return [...all].filter(([name]) => !here.has(name)).slice(-MAX_GONE);
}

function acceptedOf(tools: readonly KnownTool[]): readonly (readonly [string, string])[] {
  return tools.flatMap(({ definition, accepted }) => (accepted === null ? [] : [[definition.name, accepted] as const]));
}

export function acceptedTools(tools: readonly KnownTool[], digests: ReadonlySet<string>): readonly KnownTool[] {
  return tools.map((tool) =>
    digests.has(tool.definition.digest) ? { definition: tool.definition, accepted: tool.definition.digest } : tool,
  );
}

export function isAccepted({ definition, accepted }: KnownTool): boolean {
  return accepted === definition.digest;
}

const SHOWN_DIGEST_CHARS = 12;

/** Why a call of it asks, for an owner; null: there is nothing to review. */
export function whyReview(tool: KnownTool, server: string): string | null {
  if (isAccepted(tool)) return null;
  const now = tool.definition.digest.slice(0, SHOWN_DIGEST_CHARS);
  const look = `look at it with: pi-gw mcp list ${server}`;
  if (tool.accepted === null)
    return `the MCP server ${server} has added it since you set it up (digest ${now}; ${look})`;
  const before = tool.accepted.slice(0, SHOWN_DIGEST_CHARS);
  return `the MCP server ${server} has changed what it says about this tool (digest was ${before}, is ${now}; ${look})`;
}

export function sameTools(a: readonly KnownTool[], b: readonly KnownTool[]): boolean {
  const key = (tools: readonly KnownTool[]) =>
    tools.map(({ definition, accepted }) => `${definition.name} ${definition.digest} ${accepted}`).toSorted();
  return JSON.stringify(key(a)) === JSON.stringify(key(b));
}
