/** Notices what begins to wait for a person: approvals, questions, people who ask for access, failing jobs, replies that did not arrive. */
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { TroubledPart } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { NotificationChoice, PushNotice, BrowserSignIn } from "../contracts/notifications.ts";
import type { OutboxStore } from "../contracts/store.ts";
import type { ApprovalStore } from "../contracts/store/approvals.ts";
import type { PendingApproval } from "../contracts/tools/approval.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { decisionToken } from "./decision-token.ts";
import { approvalText, jobNotice, personNotice, questionNotice, replyNotice } from "./notices.ts";

/** Where what waits can be looked up. */
export interface NewsSources {
  readonly approvals: Pick<ApprovalStore, "openHash">;
  readonly pairing: Pick<Pairing, "list">;
  readonly outbox: Pick<OutboxStore, "list">;
  /** Signs decision tokens. */
  readonly tokenKey: Uint8Array;
}

interface NewsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<Events, "on">;
  readonly sources: NewsSources;
}

/** Something that waits, as each browser is told of it. */
export interface News {
  readonly tag: string;
  readonly urgency: "normal" | "high";
  readonly expiresAt: number;
  noticeFor(browser: BrowserSignIn): PushNotice;
  /** False: it has ended, and nobody is told any more. */
  isOpen(): boolean;
}

/** The same trouble is told once an hour. */
const QUIET_MS = 60 * 60_000;
const KEPT_MS = 24 * 60 * 60_000;
/** What is remembered to have been told; more than can wait. */
const MAX_REMEMBERED = 1_000;
const LOOKED_AT = 5;

/** Questions of people elsewhere are asked where those people are. */
const OF_CONSOLE = ":webchat:";

export function watchNews(deps: NewsDeps, tell: (news: News) => void): Disposable {
  const { clock, log, events, sources } = deps;
  const open = new Set<string>();
  const isTold = createOnce(clock);
  const startedAt = clock.now();
  const trouble = (notice: PushNotice): void =>
    tell({
      tag: notice.tag,
      urgency: "normal",
      expiresAt: clock.now() + KEPT_MS,
      noticeFor: () => notice,
      isOpen: () => true,
    });
  const tellOfApproval = async (approval: PendingApproval): Promise<void> => {
    const hash = await sources.approvals.openHash(approval.id);
    if (hash !== null) tell(approvalNews(approval, { hash, tokenKey: sources.tokenKey, open }));
  };
  const tellOfPeople = (): void => {
    for (const person of sources.pairing.list())
      if (person.state === "pending" && person.createdAt >= startedAt && !isTold(`person-${person.id}`))
        trouble(personNotice(person));
  };
  const tellOfReplies = async (): Promise<void> => {
    const found = await Promise.all([
      sources.outbox.list("dead", { limit: LOOKED_AT }),
      sources.outbox.list("ambiguous", { limit: LOOKED_AT }),
    ]);
    const lost: readonly TroubledPart[] = found
      .flatMap(({ items }) => items)
      .filter(({ state, retried }) => retried === undefined || retried.now === state);
    for (const part of lost)
      if (part.endedAt >= startedAt && !isTold(part.id) && !isTold(`reply-${part.to.channel}`))
        trouble(replyNotice(part));
  };
  const watching = [
    events.on("approval", (news) => {
      if (news.decision !== null) return void open.delete(news.id);
      open.add(news.id);
      const { decision: _open, ...approval } = news;
      background(log, "approval could not be told", () => tellOfApproval(approval));
    }),
    events.on("question", ({ end, ...question }) => {
      if (end !== null) return void open.delete(question.id);
      if (!question.sessionKey.includes(OF_CONSOLE)) return;
      open.add(question.id);
      const notice = questionNotice(question);
      const isOpen = () => open.has(question.id);
      tell({ tag: notice.tag, urgency: "high", expiresAt: question.expiresAt, noticeFor: () => notice, isOpen });
    }),
    events.on("cron.run", ({ run }) => {
      if (run.status === "failed" && !isTold(`job-${run.jobId}`)) trouble(jobNotice(run));
    }),
    events.on("status", ({ what }) => {
      if (what === "pairing")
        background(log, "people who ask for access could not be told", async () => tellOfPeople());
      if (what === "outbox") background(log, "lost replies could not be told", tellOfReplies);
    }),
  ];
  return {
    [Symbol.dispose]() {
      for (const one of watching) one[Symbol.dispose]();
    },
  };
}

interface Asked {
  readonly hash: string;
  readonly tokenKey: Uint8Array;
  readonly open: ReadonlySet<string>;
}

function approvalNews(approval: PendingApproval, { hash, tokenKey, open }: Asked): News {
  const { id, expiresAt } = approval;
  const { choices, ...text } = approvalText(approval);
  return {
    tag: text.tag,
    urgency: "high",
    expiresAt,
    noticeFor: (browser) => {
      const token = (decision: NotificationChoice) =>
        [decision, decisionToken(tokenKey, { approval: id, hash, decision }, browser)] as const;
      return { ...text, approval: { id, tokens: Object.fromEntries(choices.map(token)) } };
    },
    isOpen: () => open.has(id),
  };
}

/** False the first time within the hour, and notes it. */
function createOnce(clock: Clock): (what: string) => boolean {
  const told = new Map<string, number>();
  return (what) => {
    const now = clock.elapsed();
    for (const [one, at] of told) if (now - at >= QUIET_MS) told.delete(one);
    if (told.has(what)) return true;
    if (told.size >= MAX_REMEMBERED) return true; // so much at once is told by what was told already
    told.set(what, now);
    return false;
  };
}
