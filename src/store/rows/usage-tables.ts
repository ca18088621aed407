/** The tables of the usage ledger as types; the rest of the tables is in schema.ts. */
import type { AgentId, Principal } from "../../contracts/ids.ts";
import type { UsageBy, UsageOrigin } from "../../contracts/store/usage.ts";

export interface UsageTables {
  usage: UsageTable;
  usage_days: UsageDayTable;
}

interface SumColumns {
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  cost_usd: number;
}

/** What one turn, or a part of one, has cost. */
export interface UsageTable extends SumColumns {
  day: string;
  id: string;
  agent_id: AgentId;
  principal: Principal;
  origin: UsageOrigin;
  model: string;
}

/** The same added up for each day: of all (`day`), of each agent, each origin, each model, each person. */
interface UsageDayTable extends SumColumns {
  what: UsageBy;
  day: string;
  key: string;
  turns: number;
}
