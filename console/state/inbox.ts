/** Everything that needs a person, as one list. Rows that are shown keep their places. Pure. */
import type { PairedPerson } from "../../src/contracts/channels/pairing.ts";
import type { QuestionNews } from "../../src/contracts/channels/question.ts";
import type { TroubledPart } from "../../src/contracts/delivery.ts";
import type { ConfigStatus, WireListedJob } from "../../src/contracts/wire.ts";
import type { Approval } from "./approvals.ts";

export type InboxItem = { readonly id: string } & (
  | { readonly kind: "approval"; readonly approval: Approval }
  | { readonly kind: "question"; readonly question: QuestionNews }
  | { readonly kind: "person"; readonly person: PairedPerson }
  | { readonly kind: "config"; readonly problems: readonly string[] }
  | { readonly kind: "job"; readonly job: WireListedJob }
  | { readonly kind: "reply"; readonly reply: TroubledPart }
);

export interface InboxSources {
  readonly approvals: readonly Approval[];
  readonly questions: readonly QuestionNews[];
  readonly people: readonly PairedPerson[];
  readonly config: ConfigStatus | null;
  readonly failingJobs: readonly WireListedJob[];
  readonly replies: readonly TroubledPart[];
}

/** What holds somebody up comes first: an agent that waits, then a person, then what went wrong. */
export function inboxItems(sources: InboxSources): readonly InboxItem[] {
  const { approvals, questions, people, config, failingJobs, replies } = sources;
  return [
    ...approvals
      .filter(({ decision }) => decision === null)
      .map((approval) => ({ id: `approval ${approval.id}`, kind: "approval" as const, approval })),
    ...questions
      .filter(({ end, sessionKey }) => end === null && sessionKey.includes(":webchat:")) // people elsewhere are asked where they are
      .map((question) => ({ id: `question ${question.id}`, kind: "question" as const, question })),
    ...people
      .filter(({ state }) => state === "pending")
      .map((person) => ({ id: `person ${person.id}`, kind: "person" as const, person })),
    ...(config && !config.applied ? [{ id: "config", kind: "config" as const, problems: config.problems }] : []),
    ...failingJobs.map((job) => ({ id: `job ${job.id} ${job.lastRun?.id ?? ""}`, kind: "job" as const, job })),
    ...replies.map((reply) => ({ id: `reply ${reply.id}`, kind: "reply" as const, reply })),
  ];
}

/** Whether a reply waits for a person: nobody had it sent again, or that did not help. */
export function isLostNow({ state, retried }: Pick<TroubledPart, "state" | "retried">): boolean {
  return retried === undefined || retried.now === state;
}

/** What is kept of an item that somebody has dismissed. A reply that was sent again, and lost again, is news. */
export function dismissalOf(item: InboxItem): string {
  const retried = item.kind === "reply" ? item.reply.retried : undefined;
  return retried ? `${item.id} ${retried.at}` : item.id;
}

export interface InboxRow {
  readonly item: InboxItem;
  /** It does not wait any more: decided here or elsewhere, or over by itself. */
  readonly over: boolean;
}

/** No row moves and none disappears while somebody looks; new ones come last. */
export function keepRows(rows: readonly InboxRow[], items: readonly InboxItem[]): readonly InboxRow[] {
  const waiting = new Map(items.map((item) => [item.id, item]));
  const kept = rows.map(({ item }) => ({ item: waiting.get(item.id) ?? item, over: !waiting.has(item.id) }));
  const shown = new Set(rows.map(({ item }) => item.id));
  return [...kept, ...items.filter(({ id }) => !shown.has(id)).map((item) => ({ item, over: false }))];
}
