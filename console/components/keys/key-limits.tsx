/** What a new key is limited to: agents, tools, what it may spend in a day, how often it may ask. Whatever is left empty has no limit of its own. */
import { type Signal, useSignal } from "@preact/signals";
import { TextField } from "../parts/fields.tsx";
import type { WireKeyInput } from "../../../src/contracts/wire.ts";

/** As they were typed; the gateway checks them. */
interface LimitFields {
  readonly agents: Signal<string>;
  readonly tools: Signal<string>;
  readonly dailyUsd: Signal<string>;
  readonly dailyTokens: Signal<string>;
  readonly requestsPerMinute: Signal<string>;
}

type Limits = Pick<WireKeyInput, "agents" | "tools" | "dailyUsd" | "dailyTokens" | "requestsPerMinute">;

const MAX_NAMES = 1_000;
const MAX_NUMBER = 20;

export function useLimits(): LimitFields {
  return {
    agents: useSignal(""),
    tools: useSignal(""),
    dailyUsd: useSignal(""),
    dailyTokens: useSignal(""),
    requestsPerMinute: useSignal(""),
  };
}

/** Without those that were left empty. */
export function limitsOf(fields: LimitFields): Limits {
  const typed = Object.entries(fields).filter(([, field]) => field.value.trim() !== "");
  return Object.fromEntries(typed.map(([name, { value }]) => [name, isList(name) ? namesIn(value) : Number(value)]));
}

function isList(name: string): boolean {
  return name === "agents" || name === "tools";
}

function namesIn(typed: string): readonly string[] {
  return typed.split(/[\s,]+/).filter((one) => one !== "");
}

const NAMES = { maxLength: MAX_NAMES, exact: true } as const;
const NUMBER = { type: "number", min: "0", maxLength: MAX_NUMBER, placeholder: "no limit" } as const;

export function KeyLimits({ fields }: { readonly fields: LimitFields }) {
  return (
    <fieldset class="key-limits">
      <legend>Limits</legend>
      <TextField {...NAMES} label="Agents" placeholder="all" value={fields.agents} />
      <TextField {...NAMES} label="Tools" placeholder="all, or notes_*, web_search" value={fields.tools} />
      <TextField {...NUMBER} label="US dollars a day" step="0.01" value={fields.dailyUsd} />
      <TextField {...NUMBER} label="Tokens a day" step="1" value={fields.dailyTokens} />
      <TextField {...NUMBER} label="Requests a minute" step="1" min="1" value={fields.requestsPerMinute} />
    </fieldset>
  );
}
