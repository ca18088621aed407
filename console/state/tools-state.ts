/** The tools there are and the record of their calls, read when somebody looks at them. */
import { computed, effect, signal } from "@preact/signals";
import type { AuditRow } from "../../src/contracts/store/tool-calls.ts";
import type { ListedTool, PiToolListing } from "../../src/contracts/tools/tool.ts";
import { readToolCalls } from "../net/api.ts";
import { line, request } from "./console-state.ts";
import { activityNews, approvals } from "./news.ts";
import { FAILED, LOADING, nextPage, type Paged, withNewest } from "./paged.ts";
import { soon } from "./soon.ts";

interface CallFilter {
  readonly tool: string;
  readonly status: string;
  readonly session: string;
  /** How far back, in milliseconds; 0: everything. */
  readonly withinMs: number;
}

const PAGE_CALLS = 50;
const AGAIN_MS = 300;
export const tools = signal<{
  readonly phase: Paged<ListedTool>["phase"];
  readonly items: readonly ListedTool[];
  /** Those that pi runs itself. */
  readonly ofPi: readonly PiToolListing[];
}>({ phase: "loading", items: [], ofPi: [] });
export const calls = signal<Paged<AuditRow>>(LOADING);
export const filter = signal<CallFilter>({ tool: "", status: "", session: "", withinMs: 0 });
/** Everything one might look for by name. */
export const toolNames = computed(() => {
  const offered = [...tools.value.items, ...tools.value.ofPi].map(({ name }) => name);
  const called = calls.value.items.map(({ tool }) => tool);
  return [...new Set([...offered, ...called])].toSorted();
});

export async function readTools(): Promise<void> {
  try {
    const { tools: items, piTools } = await request("tools.list", {});
    tools.value = { phase: "ready", items: items.toSorted(byName), ofPi: piTools.toSorted(byName) };
  } catch {
    if (tools.value.phase === "loading") tools.value = { phase: "failed", items: [], ofPi: [] };
  }
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followCalls(): () => void {
  let first = true;
  return effect(() => {
    void activityNews.value;
    void approvals.value;
    if (line.value !== "open") return;
    soon("calls", first ? 0 : AGAIN_MS, () => void readNewest());
    first = false;
  });
}

export function filterBy(change: Partial<CallFilter>): void {
  filter.value = { ...filter.value, ...change };
  calls.value = LOADING;
  soon("calls", 0, () => void readNewest());
}

/** What is new comes on top; what was read before stays. */
async function readNewest(): Promise<void> {
  const asked = filter.value;
  const answer = await readToolCalls(queryOf(asked, null));
  if (filter.value !== asked) return; // somebody has asked for something else meanwhile
  if (answer.ok) calls.value = withNewest(calls.value, answer.value, ({ id }) => id);
  else if (calls.value.phase === "loading") calls.value = FAILED;
}

export async function moreCalls(): Promise<void> {
  const { next } = calls.value;
  const asked = filter.value;
  if (next === null) return;
  const answer = await readToolCalls(queryOf(asked, next));
  if (!answer.ok || filter.value !== asked || calls.value.next !== next) return; // the button stays
  calls.value = nextPage(calls.value, answer.value);
}

function queryOf({ tool, status, session, withinMs }: CallFilter, cursor: string | null): URLSearchParams {
  const query = new URLSearchParams({ limit: String(PAGE_CALLS) });
  if (tool) query.set("tool", tool);
  if (status) query.set("status", status);
  if (session) query.set("session", session);
  if (withinMs > 0) query.set("since", String(Date.now() - withinMs));
  if (cursor !== null) query.set("cursor", cursor);
  return query;
}
