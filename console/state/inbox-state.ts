/** The inbox of the web console: its sources, read again whenever the gateway says that something changed; what was dismissed; its number. */
import { computed, effect, signal } from "@preact/signals";
import type { TroubledPart } from "../../src/contracts/delivery.ts";
import type { WireListedJob } from "../../src/contracts/wire.ts";
import { readTroubledReplies, retryReply } from "../net/api.ts";
import { line, request, status } from "./console-state.ts";
import { dismissalOf, type InboxItem, inboxItems, isLostNow } from "./inbox.ts";
import { keep, kept } from "./kept.ts";
import { announced, approvals, jobNews, outboxNews, questions } from "./news.ts";
import { people } from "./people.ts";
import { soon } from "./soon.ts";

const DISMISSED_KEY = "pi-gateway.dismissed";
const MAX_DISMISSED = 500;
const MAX_JOBS = 100;
/** News come in bursts: a run begins, ends, and its job changes. */
const AGAIN_MS = 150;
/** What is older was seen, or matters to nobody any more. */
const REPLIES_WITHIN_MS = 7 * 24 * 3_600_000;

const failingJobs = signal<readonly WireListedJob[]>([]);
const replies = signal<readonly TroubledPart[]>([]);
/** Failing jobs and lost replies that somebody has seen; this browser keeps it. */
export const dismissed = signal<ReadonlySet<string>>(new Set());

/** Replies that were sent again from here. */
export const sentAgain = signal<ReadonlySet<string>>(new Set());

export const waitingItems = computed(() =>
  inboxItems({
    approvals: approvals.value,
    questions: questions.value,
    people: people.value,
    config: status.value?.config ?? null,
    failingJobs: failingJobs.value,
    replies: replies.value,
  }).filter((item) => !dismissed.value.has(dismissalOf(item))),
);
export const inboxCount = computed(() => waitingItems.value.length);

/** Follows the gateway until it is called. */
export function followInbox(): () => void {
  dismissed.value = new Set(readDismissed());
  const stops = [
    effect(() => {
      void jobNews.value;
      if (line.value === "open") soon("failing-jobs", AGAIN_MS, () => void readFailingJobs());
    }),
    effect(() => {
      void outboxNews.value;
      if (line.value === "open") soon("troubled-replies", AGAIN_MS, () => void readReplies());
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

async function readFailingJobs(): Promise<void> {
  const page = await request("cron.list", { failing: true, limit: MAX_JOBS }).catch(() => null); // the last ones stay
  if (page) failingJobs.value = page.items;
}

async function readReplies(): Promise<void> {
  const [dead, ambiguous] = await Promise.all([readTroubledReplies("dead"), readTroubledReplies("ambiguous")]);
  if (!dead.ok || !ambiguous.ok) return; // the last ones stay
  const since = Date.now() - REPLIES_WITHIN_MS;
  const all = [...dead.value.items, ...ambiguous.value.items];
  replies.value = all.filter((reply) => reply.endedAt > since && isLostNow(reply));
}

/** Whoever asks for a doubtful one knows that its chat may show it twice. Null when it is being sent; otherwise why not. */
export async function sendAgain({ id, state, to }: TroubledPart): Promise<string | null> {
  const answer = await retryReply(id, state === "ambiguous");
  if (!answer.ok) return answer.error.message;
  announced.value = `The reply to ${to.channel} is being sent again.`;
  sentAgain.value = new Set([...sentAgain.value, id]);
  await readReplies();
  return null;
}

export function dismiss(item: InboxItem): void {
  keepDismissed([...dismissed.value, dismissalOf(item)].slice(-MAX_DISMISSED));
}

export function undoDismiss(item: InboxItem): void {
  keepDismissed([...dismissed.value].filter((one) => one !== dismissalOf(item)));
}

function keepDismissed(ids: readonly string[]): void {
  dismissed.value = new Set(ids);
  keep(DISMISSED_KEY, JSON.stringify(ids), "browser");
}

function readDismissed(): readonly string[] {
  try {
    const ids: unknown = JSON.parse(kept(DISMISSED_KEY, "browser") ?? "[]");
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  } catch {
    return []; // written by another version of the web console
  }
}
