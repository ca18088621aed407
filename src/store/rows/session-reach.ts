/** Lists of what belongs to some sessions only, as a condition on their keys. */
import { sql as raw } from "kysely";
import type { SessionReach } from "../../contracts/session-reach.ts";

/** The `+` keeps SQLite on the index that gives the order of the list. */
export function withinReach(column: "key" | "session_key", { agents, keyId }: SessionReach) {
  const ofAgents = agents === null ? ["*"] : agents.map(literally);
  const rest = keyId === null ? "*" : `api:dm:${literally(keyId)}.*`;
  const fits = ofAgents.map((agent) => raw<boolean>`+${raw.ref(column)} glob ${`agent:${agent}:${rest}`}`);
  return fits.length === 0 ? raw<boolean>`false` : raw<boolean>`(${raw.join(fits, raw` or `)})`;
}

/** A text that GLOB takes as it is. */
function literally(text: string): string {
  return text.replaceAll(/[*?[]/g, "[$&]");
}
