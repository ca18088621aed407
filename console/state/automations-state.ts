/** What the views of Automations besides the list of jobs show: planned runs, heartbeats, webhooks, and what a job can choose from. */
import { signal } from "@preact/signals";
import type { HeartbeatCard } from "../../src/contracts/automation/heartbeat.ts";
import type { Schedule } from "../../src/contracts/automation/job.ts";
import type { JobCalendar, SchedulePreview } from "../../src/contracts/automation/jobs.ts";
import type { WebhookKey, WebhookList } from "../../src/contracts/automation/webhook.ts";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import { type Answer, deleteJson, readJson, sendJson } from "../net/api.ts";
import { announced } from "./news.ts";
import { ownZone } from "../text/dates.ts";

/** Null: not read yet. */
type Read<T> = T | null | "failed";

export const calendar = signal<Read<JobCalendar>>(null);
export const heartbeats = signal<Read<readonly HeartbeatCard[]>>(null);
export const webhooks = signal<Read<WebhookList>>(null);
interface MadeSecret {
  readonly name: string;
  readonly secret: string;
}

/** Keys and tokens that were made a moment ago: shown once. */
export const madeSecrets = signal<readonly MadeSecret[]>([]);

interface JobChoices {
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  readonly targets: readonly string[];
}

/** What a form offers; empty until it was read. */
export const jobChoices = signal<JobChoices>({ agents: [], tools: [], targets: [] });

function keep<T, A>(into: { value: Read<T> }, answer: Answer<A>, take: (value: A) => T): void {
  if (answer.ok) into.value = take(answer.value);
  else if (into.value === null) into.value = "failed";
}

function problemOf(answer: Answer<unknown>): string | null {
  return answer.ok ? null : answer.error.message;
}

export async function readCalendar({ from, days }: { readonly from: string; readonly days: number }): Promise<void> {
  const query = new URLSearchParams({ from, days: String(days), timezone: ownZone() });
  keep(calendar, await readJson<JobCalendar>(`/api/cron/calendar?${query.toString()}`), (read) => read);
}

export type PreviewQuestion = { readonly words: string } | Pick<Schedule, "kind" | "expr">;

export function askPreview(asked: PreviewQuestion, timezone: string): Promise<Answer<SchedulePreview>> {
  const query = new URLSearchParams({ ...asked, ...(timezone === "" ? {} : { timezone }) });
  return readJson<SchedulePreview>(`/api/cron/preview?${query.toString()}`);
}

export async function readJobChoices(): Promise<void> {
  const [agents, tools, hooks] = await Promise.all([
    readJson<HttpApi["GET /api/agents"]["result"]>("/api/agents"),
    readJson<HttpApi["GET /api/tools"]["result"]>("/api/tools"),
    readJson<WebhookList>("/api/webhooks"),
  ]);
  jobChoices.value = {
    agents: agents.ok ? agents.value.items.map(({ id }) => id) : [],
    tools: tools.ok ? tools.value.tools.map(({ name }) => name) : [],
    targets: hooks.ok ? hooks.value.targets.map(({ name }) => name) : [],
  };
}

export async function readHeartbeats(): Promise<void> {
  const answer = await readJson<HttpApi["GET /api/heartbeats"]["result"]>("/api/heartbeats");
  keep(heartbeats, answer, ({ items }) => items);
}

/** Null when it is written, otherwise why not. */
export async function writeChecklist(agent: string, text: string, before: string | null): Promise<string | null> {
  const answer = await sendJson("POST", `/api/heartbeats/${encodeURIComponent(agent)}/checklist`, { text, before });
  if (answer.ok) announced.value = `The checklist of ${agent} is saved.`;
  await readHeartbeats();
  return problemOf(answer);
}

export async function readWebhooks(): Promise<void> {
  keep(webhooks, await readJson<WebhookList>("/api/webhooks"), (list) => list);
}

const webhookPath = (name: string): string => `/api/webhooks/${encodeURIComponent(name)}`;

/** What the agent gets, or why the request was refused. */
export function testWebhook(name: string, body: string): Promise<Answer<{ readonly text: string }>> {
  return sendJson("POST", `${webhookPath(name)}/test`, { body });
}

export function testTarget(name: string): Promise<Answer<{ readonly ok: boolean; readonly say: string }>> {
  return sendJson("POST", `/api/webhook-targets/${encodeURIComponent(name)}/test`, {});
}

export async function addWebhookKey(name: string): Promise<string | null> {
  const answer = await sendJson<{ key: WebhookKey; secret: string }>("POST", `${webhookPath(name)}/keys`, {});
  if (answer.ok) madeSecrets.value = [{ name: `key ${answer.value.key.id} of ${name}`, secret: answer.value.secret }];
  await readWebhooks();
  return problemOf(answer);
}

export async function removeWebhookKey(name: string, key: string): Promise<string | null> {
  const answer = await deleteJson(`${webhookPath(name)}/keys/${encodeURIComponent(key)}`);
  await readWebhooks();
  return problemOf(answer);
}
