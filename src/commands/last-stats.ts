/** The last word of agents about their conversations, for /context. Bounded: the one that was silent longest is forgotten first. */
import type { AgentSessionStats } from "../contracts/agent.ts";
import type { LastStats } from "../contracts/command.ts";

export const MAX_REMEMBERED_SESSIONS = 1_000;
const FRESH_MS = 60_000;

export function createLastStats(): LastStats {
  const known = new Map<string, { readonly stats: AgentSessionStats; readonly at: number }>();
  const expected = new Map<string, Promise<void>>();
  return {
    expect(sessionFile, answer) {
      const forget = (): void => void (expected.get(sessionFile) === coming && expected.delete(sessionFile));
      const coming = answer.then(forget);
      expected.set(sessionFile, coming);
    },
    settled: async (sessionFile) => expected.get(sessionFile),
    stale: (sessionFile, now) => now - (known.get(sessionFile)?.at ?? -Infinity) > FRESH_MS,
    note(sessionFile, stats, now) {
      known.delete(sessionFile); // to the end of the line
      known.set(sessionFile, { stats, at: now });
      if (known.size <= MAX_REMEMBERED_SESSIONS) return;
      for (const oldest of known.keys()) {
        known.delete(oldest);
        return;
      }
    },
    of: (sessionFile) => known.get(sessionFile)?.stats ?? null,
  };
}
