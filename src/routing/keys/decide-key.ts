/** Whether a key may be made as it is asked for: a pure decision. A key never gives more than it has itself. */
import { EVERYTHING, type KeyRights, type NewApiKey } from "../../contracts/api-keys.ts";

/** What is wrong with it, as a sentence; null: nothing. `by` null: the operator, who may give everything. */
export function refusedBecause(asked: NewApiKey, by: KeyRights | null, now: number): string | null {
  if (asked.name.trim() === "") return "A key needs a name.";
  if (asked.scopes.length === 0) return "A key needs a scope: chat, tools, read or admin.";
  if (asked.agents.length === 0) return "A key needs an agent that it is for, or * for all.";
  if (asked.expiresAt !== null && asked.expiresAt <= now) return "The key would have expired already.";
  return by && beyond(asked, by);
}

function beyond(asked: KeyRights, own: KeyRights): string | null {
  const scope = asked.scopes.find((one) => !own.scopes.includes("admin") && !own.scopes.includes(one));
  if (scope !== undefined) return more(`the scope ${scope}`);
  const agent = asked.agents.find((one) => !own.agents.includes(EVERYTHING) && !own.agents.includes(one));
  if (agent !== undefined) return more(`the agent ${agent}`);
  const tool = asked.tools.find((one) => !own.tools.some((pattern) => covers(pattern, one)));
  if (tool !== undefined) return more(`the tool ${tool}`);
  if (above(asked.dailyUsd, own.dailyUsd)) return more("a budget above its own in US dollars");
  if (above(asked.dailyTokens, own.dailyTokens)) return more("a budget above its own in tokens");
  if (above(asked.requestsPerMinute, own.requestsPerMinute)) return more("more requests a minute than its own");
  return above(asked.expiresAt, own.expiresAt) ? more("a later end than its own") : null;
}

/** `notes_*` covers `notes_save` and `notes_s*`. */
function covers(pattern: string, asked: string): boolean {
  return pattern.endsWith(EVERYTHING) ? asked.startsWith(pattern.slice(0, -1)) : pattern === asked;
}

/** Null is no limit at all. */
function above(asked: number | null, own: number | null): boolean {
  return own !== null && (asked === null || asked > own);
}

function more(what: string): string {
  return `A key can give no more than it has: ${what} is not for this one to give.`;
}
