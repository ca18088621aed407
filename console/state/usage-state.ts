/** What models have cost in the chosen days: by day, and by what is chosen. Read when somebody looks, and again when a turn has ended. */
import { computed, effect, signal } from "@preact/signals";
import type { UsageReport } from "../../src/contracts/http-api.ts";
import type { UsageBy, UsageItem } from "../../src/contracts/store/usage.ts";
import { readJson } from "../net/api.ts";
import { type Elapsed, elapsedAt, everyDay, type Period, spanOf } from "../text/usage-days.ts";
import { line } from "./console-state.ts";
import { activityNews } from "./news.ts";
import { FAILED, firstPage, LOADING, nextPage, type Paged } from "./paged.ts";
import { soon } from "./soon.ts";

export type Group = Exclude<UsageBy, "day">;

const PAGE_ROWS = 50;
/** More than the longest choice of days. */
const MAX_DAYS = 200;
const AGAIN_MS = 1_000;
const MINUTES = 60;

export const period = signal<Period>("month");
export const group = signal<Group>("model");
/** By day; null: not read yet. */
export const report = signal<UsageReport | null | "failed">(null);
export const groups = signal<Paged<UsageItem>>(LOADING);
export const days = computed(() => {
  const now = report.value;
  return now === null || now === "failed" ? [] : everyDay(now.from, now.to, now.items);
});
/** Today where the gateway counts its days; empty: not known yet. */
const today = signal("");

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followUsage(): () => void {
  let first = true;
  return effect(() => {
    void activityNews.value;
    if (line.value !== "open") return;
    soon("usage", first ? 0 : AGAIN_MS, () => void readUsage());
    first = false;
  });
}

export function choosePeriod(chosen: Period): void {
  period.value = chosen;
  void readUsage();
}

export function chooseGroup(chosen: Group): void {
  group.value = chosen;
  groups.value = LOADING;
  void readGroups();
}

async function readUsage(): Promise<void> {
  const chosen = period.value;
  if (today.value === "") await readToday();
  const answer = await readJson<UsageReport>(`/api/usage?${queryOf("day", MAX_DAYS)}`);
  if (period.value !== chosen) return; // somebody has asked for something else meanwhile
  if (answer.ok) report.value = answer.value;
  else if (report.value === null) report.value = "failed";
  await readGroups();
}

/** Without days the gateway answers for this month, up to today. */
async function readToday(): Promise<void> {
  const answer = await readJson<UsageReport>("/api/usage?limit=1");
  if (answer.ok) today.value = answer.value.to;
}

async function readGroups(): Promise<void> {
  const asked = queryOf(group.value, PAGE_ROWS);
  const answer = await readJson<UsageReport>(`/api/usage?${asked}`);
  if (asked !== queryOf(group.value, PAGE_ROWS)) return;
  if (answer.ok) groups.value = firstPage(answer.value);
  else if (groups.value.phase === "loading") groups.value = FAILED;
}

export async function moreGroups(): Promise<void> {
  const { next } = groups.value;
  if (next === null) return;
  const answer = await readJson<UsageReport>(`/api/usage?${queryOf(group.value, PAGE_ROWS)}&cursor=${next}`);
  if (!answer.ok || groups.value.next !== next) return; // the button stays
  groups.value = nextPage(groups.value, answer.value);
}

function queryOf(by: UsageBy, limit: number): string {
  const span = today.value === "" ? {} : spanOf(period.value, today.value);
  return new URLSearchParams({ by, limit: String(limit), ...span }).toString();
}

/** By the clock of the gateway's time zone, which may not be this browser's. */
export function elapsedNow(): Elapsed {
  const now = report.value;
  const timeZone = now === null || now === "failed" ? "UTC" : now.timezone;
  const part = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en-CA", { timeZone, ...options }).format(new Date());
  const [hour = 0, minute = 0] = part({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).split(":").map(Number);
  return elapsedAt(part({ year: "numeric", month: "2-digit", day: "2-digit" }), hour + minute / MINUTES);
}
