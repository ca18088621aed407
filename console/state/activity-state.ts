/** The timeline, one turn of it, and the state of the audit log: read when somebody looks, and again when the gateway says that something happened. */
import { effect, signal } from "@preact/signals";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import type { ActivityEntry, ActivityPage } from "../../src/contracts/store/activity.ts";
import type { AuditVerification } from "../../src/contracts/store/tool-calls.ts";
import { readJson, sendJson } from "../net/api.ts";
import { line } from "./console-state.ts";
import { activityNews, announced } from "./news.ts";
import { FAILED, firstPage, LOADING, nextPage, type Paged, withNewest } from "./paged.ts";
import { soon } from "./soon.ts";

export interface ActivityChoice {
  readonly kind: string;
  readonly outcome: string;
  readonly agent: string;
  readonly person: string;
  readonly channel: string;
  readonly text: string;
}

export type Turn = HttpApi["GET /api/turns/:id"]["result"];

const PAGE_ENTRIES = 50;
const AGAIN_MS = 300;
const TYPED_MS = 150;
/** Pages that are read in a row while nothing is found in them. */
const MAX_EMPTY_PAGES = 10;

const NOTHING: ActivityChoice = { kind: "", outcome: "", agent: "", person: "", channel: "", text: "" };

export const activity = signal<Paged<ActivityEntry>>(LOADING);
export const choice = signal<ActivityChoice>(NOTHING);
/** How far back was looked while nothing was found there; null: all of it is in the list. */
export const searchedTo = signal<number | null>(null);
export const verification = signal<AuditVerification | null | "unread">("unread");
export const verifying = signal(false);

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followActivity(): () => void {
  let first = true;
  const stop = effect(() => {
    void activityNews.value;
    if (line.value !== "open") return;
    soon("activity", first ? 0 : AGAIN_MS, () => void readNewest());
    first = false;
  });
  void readVerification();
  return stop;
}

export function choose(field: keyof ActivityChoice, value: string): void {
  chooseAll({ ...choice.value, [field]: value }, field === "text" ? TYPED_MS : 0);
}

/** Without a choice: everything. */
export function chooseAll(chosen = NOTHING, afterMs = 0): void {
  choice.value = chosen;
  activity.value = LOADING;
  soon("activity", afterMs, () => void readNewest());
}

/** What is new comes on top; what was read before stays. */
async function readNewest(): Promise<void> {
  const asked = choice.value;
  const answer = await pageOf(asked, null);
  if (choice.value !== asked) return; // somebody has asked for something else meanwhile
  if (!answer.ok) {
    if (activity.value.phase === "loading") activity.value = FAILED;
    return;
  }
  if (activity.value.phase === "loading") {
    activity.value = firstPage(answer.value);
    searchedTo.value = answer.value.searchedTo ?? null;
    if (answer.value.items.length === 0) await moreActivity();
  } else activity.value = withNewest(activity.value, answer.value, ({ kind, id }) => `${kind} ${id}`);
}

/** Goes on until something was found, or for so many pages. */
export async function moreActivity(): Promise<void> {
  for (let pages = 0; pages < MAX_EMPTY_PAGES; pages++) {
    const asked = choice.value;
    const { next } = activity.value;
    if (next === null) return;
    const answer = await pageOf(asked, next);
    if (!answer.ok || choice.value !== asked || activity.value.next !== next) return; // the button stays
    activity.value = nextPage(activity.value, answer.value);
    searchedTo.value = answer.value.searchedTo ?? null;
    if (answer.value.items.length > 0) return;
  }
}

function pageOf({ text, ...chosen }: ActivityChoice, cursor: string | null) {
  const query = new URLSearchParams({ limit: String(PAGE_ENTRIES) });
  for (const [name, value] of Object.entries({ ...chosen, q: text.trim() })) if (value !== "") query.set(name, value);
  if (cursor !== null) query.set("cursor", cursor);
  return readJson<ActivityPage>(`/api/activity?${query.toString()}`);
}

async function readVerification(): Promise<void> {
  const answer = await readJson<HttpApi["GET /api/audit/verification"]["result"]>("/api/audit/verification");
  if (answer.ok) verification.value = answer.value.verification;
}

export async function verifyAuditLog(): Promise<string | null> {
  verifying.value = true;
  const answer = await sendJson<HttpApi["POST /api/audit/verification"]["result"]>(
    "POST",
    "/api/audit/verification",
    {},
  );
  verifying.value = false;
  if (!answer.ok) return answer.error.message;
  verification.value = answer.value.verification;
  announced.value =
    answer.value.verification.kind === "intact" ? "The audit log is intact." : "The audit log has problems.";
  return null;
}

export function readTurn(id: string) {
  return readJson<Turn>(`/api/turns/${encodeURIComponent(id)}`);
}
