/** What the stages of a call hand to each other. Each looks at the call as the one before left it, and lets it pass, changes it or refuses it. */
import type { Hooks } from "../../contracts/plugin-hooks.ts";
import type { Rights } from "../../contracts/channels/rights.ts";
import type { Approvals } from "../../contracts/tools/approval.ts";
import type { ToolRefusal, ToolRefusalCode, ToolRequest } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { SecretMask } from "../../kit/secret.ts";
import type { CallRecord } from "../audit/record.ts";
import type { ToolInfo, ToolPolicy } from "../policy.ts";
import type { UsableTool } from "../registry.ts";
import type { Slot, Slots } from "../run/slots.ts";
import type { RateLimits } from "./rate.ts";

export interface StageDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly hooks: Hooks;
  readonly approvals: Approvals;
  readonly rate: RateLimits;
  readonly slots: Slots;
  readonly rights: Rights;
  policy(): ToolPolicy;
  /** Takes known secrets, and what looks like one, out of what is written down. */
  scrub(text: string): string;
  /** For what leaves the gate to people and programs. */
  readonly mask: SecretMask;
}

export interface Draft {
  readonly request: ToolRequest;
  readonly tool: ToolInfo;
  /** Null: pi runs it. */
  readonly usable: UsableTool | null;
  readonly params: unknown;
  /** Why the owner is asked; null: as far as the stages so far are concerned, nobody is. */
  readonly askBecause: string | null;
  readonly slot: Slot | null;
  readonly record: CallRecord;
  /** The call waits for the owner, in case its caller does not want to. */
  onWaiting(message: string): void;
}

export interface Stage {
  readonly name: string;
  judge(deps: StageDeps, draft: Draft, signal: AbortSignal): Draft | ToolRefusal | Promise<Draft | ToolRefusal>;
}

export function refuse(code: ToolRefusalCode, message: string, retryAfterMs?: number): ToolRefusal {
  return { kind: "refused", code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

export function isRefusal(value: Draft | ToolRefusal): value is ToolRefusal {
  return "kind" in value;
}
