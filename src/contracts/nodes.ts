/**
 * Gateways that share one database: what one can ask another, and what it tells all of them. Where a gateway is alone, as on SQLite, there is
 * nobody to ask, and telling does nothing.
 */
import type { SharedCount } from "../kit/shared-count.ts";
import type { ActionResult, MessageTarget, Reaction } from "./channel.ts";
import type {
  AnswerVerdict,
  Answerer,
  AskedQuestion,
  GivenAnswer,
  OpenQuestion,
  QuestionMessages,
  Questions,
  ShownQuestion,
} from "./channels/question.ts";
import type { InboundMessage } from "./chat.ts";
import type { ClientEventName, GatewayEvents } from "./events.ts";
import type { LiveTurn } from "./flow.ts";
import type { InboxId, InstanceId, Principal, SessionKey } from "./ids.ts";
import type { Accepted, Cancelled, QueueEntry, Rewritten, UnbegunReply } from "./queue.ts";
import type { Spent } from "./store/usage.ts";
import type { Approvals, ApprovalWish, DecidedFrom, PendingApproval } from "./tools/approval.ts";

/** Answered by one gateway. */
interface NodeQuestions {
  /**
   * Of the home of the session. `id`: the message has it wherever it is accepted, so that asking again stores nothing twice. `waiting`: how much
   * waits at the gateway that asks, which may be the better home.
   */
  "queue.accept": {
    readonly ask: { readonly id: InboxId; readonly entry: QueueEntry; readonly waiting: number };
    readonly answer: Accepted;
  };
  /** Takes this session with all that waits in it, under the number of its node lease. False: it does not, and nothing has changed. */
  "queue.take": {
    readonly ask: { readonly sessionKey: SessionKey; readonly number: number };
    readonly answer: boolean;
  };
  "queue.cancel": {
    readonly ask: { readonly id: InboxId; readonly by: Principal; readonly end: UnbegunReply };
    readonly answer: Cancelled;
  };
  "queue.rewrite": {
    readonly ask: { readonly id: InboxId; readonly by: Principal; readonly text: string };
    readonly answer: Rewritten;
  };
  "queue.abort": { readonly ask: { readonly sessionKey: SessionKey }; readonly answer: boolean };
  /** Of the gateway whose turn asks. */
  "approvals.decide": {
    readonly ask: {
      readonly id: string;
      readonly decision: ApprovalWish;
      readonly by: Principal;
      readonly at: DecidedFrom | null;
    };
    readonly answer: Awaited<ReturnType<Approvals["decide"]>>;
  };
  "questions.answer": {
    readonly ask: { readonly id: string; readonly given: GivenAnswer; readonly by: Answerer };
    readonly answer: AnswerVerdict;
  };
  /** Words that may answer a question of the session they were said in; see `Questions.hear`. */
  "questions.hear": {
    readonly ask: { readonly message: InboundMessage; readonly by: Parameters<Questions["hear"]>[1] };
    readonly answer: AnswerVerdict | null;
  };
  /** Of the gateway that receives for a platform, as the two after it. */
  "platform.act": {
    readonly ask: { readonly channel: string; readonly act: PlatformAct };
    readonly answer: ActionResult;
  };
  "platform.show": { readonly ask: AskedQuestion; readonly answer: Pick<ShownQuestion, "messageId"> };
  /** `id`: of the question. */
  "platform.close": {
    readonly ask: { readonly id: string; readonly end: Parameters<ShownQuestion["close"]>[0] };
    readonly answer: null;
  };
  /** Which platforms it has open, as the news of the same name. */
  platforms: { readonly ask: null; readonly answer: readonly PlatformAbilities[] };
  /** Of the gateway that answers it in the background. Answered when it has ended. */
  "responses.cancel": { readonly ask: { readonly id: string; readonly principal: Principal }; readonly answer: null };
  /** Reads what is kept in memory anew. Answered when it is in force. */
  reload: { readonly ask: { readonly what: SharedMemory }; readonly answer: null };
  /** Of the gateway that made this sign-in code, by its digest: true once. Another one does not know it. */
  "sign-ins.useCode": { readonly ask: { readonly digest: string }; readonly answer: boolean };
  /** Of the gateway that decided about this pairing last; see `Pairing.undo`. */
  "pairings.undo": { readonly ask: { readonly id: string; readonly by: Principal }; readonly answer: boolean };
  /** Takes no new sessions from now on. */
  drain: { readonly ask: null; readonly answer: null };
  /** Says what of its work is in the making, as `present`; asked by a gateway that begins. */
  present: { readonly ask: null; readonly answer: PresentWork };
}

/** What every gateway keeps in memory of the database, and what decides who may do something. `wiring/` reads it anew. What decides nothing is news. */
export type SharedMemory = "grants" | "pairings" | "keys" | "token" | "sign-ins";

/** What other gateways show of this one's work. */
export interface PresentWork {
  readonly turns: readonly (LiveTurn & { readonly sessionKey: SessionKey })[];
  readonly approvals: readonly PendingApproval[];
  readonly questions: readonly OpenQuestion[];
}

/** Told to all. */
export interface NodeNews {
  event: { readonly [E in ClientEventName]: { readonly event: E; readonly data: GatewayEvents[E] } }[ClientEventName];
  /** It is written down, and counts in every gateway's budget. */
  spent: Spent;
  /** How many messages wait there. `willing`: it takes sessions of others. */
  load: { readonly waiting: number; readonly willing: boolean };
  /** Those that it receives for now, all of them. */
  platforms: readonly PlatformAbilities[];
  /** What rate limits have counted there. `of`: as the limit told it. */
  counted: readonly {
    readonly limit: CountedLimit;
    readonly name: string;
    readonly count: number;
    readonly of: number;
  }[];
  /** Somebody has chosen another time zone. `person`: as it is kept; null: the zone of the host. */
  zone: { readonly person: string; readonly timezone: string | null };
  /** Something is in the outbox for the one who is told. */
  outbox: { readonly for: InstanceId };
}

/** What a platform can do besides sending. */
export interface PlatformAbilities {
  readonly id: string;
  readonly acts: readonly PlatformAct["kind"][];
  /** Null: questions are plain messages there. */
  readonly questions: Pick<QuestionMessages, "maxButtons" | "maxLabelChars"> | null;
}

export type PlatformAct =
  | { readonly kind: "react"; readonly target: MessageTarget; readonly reaction: Reaction }
  | { readonly kind: "edit"; readonly target: MessageTarget; readonly text: string }
  | { readonly kind: "delete"; readonly target: MessageTarget }
  | { readonly kind: "pin"; readonly target: MessageTarget; readonly unpin: boolean };

/** Rate limits that hold over all gateways together. */
export type CountedLimit = "tool calls" | "requests" | "requests of keys" | "webhook requests" | "wrong credentials";

export interface CountSharing {
  of(limit: CountedLimit): SharedCount;
}

export type NodeQuestion = keyof NodeQuestions;

export interface OtherNodes {
  /** As of a moment ago. */
  list(): readonly InstanceId[];
  /**
   * Asked more than once when no answer comes, and done once by the one who is asked. Throws what the other gateway threw, or `node_silent` when it
   * has ended or does not answer in time.
   */
  ask<Q extends NodeQuestion>(
    node: InstanceId,
    question: Q,
    body: NodeQuestions[Q]["ask"],
  ): Promise<NodeQuestions[Q]["answer"]>;
  answer<Q extends NodeQuestion>(
    question: Q,
    handler: (body: NodeQuestions[Q]["ask"], from: InstanceId) => Promise<NodeQuestions[Q]["answer"]>,
  ): void;
  tell<N extends keyof NodeNews>(news: N, body: NodeNews[N]): void;
  hear<N extends keyof NodeNews>(news: N, listener: (body: NodeNews[N], from: InstanceId) => void): Disposable;
  /** Some of what this gateway said did not arrive. */
  onMissed(listener: (from: InstanceId) => void): Disposable;
  /** This gateway has ended, or another one has taken over from it. */
  onGone(listener: (node: InstanceId) => void): Disposable;
  onCame(listener: (node: InstanceId) => void): Disposable;
  /**
   * Every other live gateway has read this anew when it resolves; this one has it already. One that has not renewed its row in time counts no more: it does
   * nothing outside of the database. Throws `node_silent` when one lives and cannot read it.
   */
  agree(what: SharedMemory): Promise<void>;
}
