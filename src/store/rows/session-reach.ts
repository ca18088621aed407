/** Lists of what belongs to some sessions only, as a condition on their keys. */
import { sql as raw } from "kysely";
import type { SessionReach } from "../../contracts/session-reach.ts";
import type { Dialect } from "../dialect.ts";

/** No index is used for it: it stays with the one that gives the order of the list. */
export function withinReach(dialect: Dialect, column: "key" | "session_key", { agents, keyId }: SessionReach) {
  const ofAgents = agents === null ? [["agent:", ":"]] : agents.map((agent) => [`agent:${agent}:`]);
  const fits = ofAgents.map((texts) => dialect.glob(column, keyId === null ? [...texts, ""] : ofKey(texts, keyId)));
  return fits.length === 0 ? raw<boolean>`false` : raw<boolean>`(${raw.join(fits, raw` or `)})`;
}

/** The sessions of a key are named `agent:<agent>:api:dm:<key>.<chat>`. */
function ofKey(texts: readonly string[], keyId: string): readonly string[] {
  return [...texts.slice(0, -1), `${texts.at(-1)}api:dm:${keyId}.`, ""];
}
