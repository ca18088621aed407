/** A call that waits for the owner's word. Bound to exactly this call, used once, gone after a while. */
import type { Caller } from "../agent.ts";
import type { ChatAddress, InboundMessage } from "../chat.ts";
import type { Principal, SessionKey, TurnId } from "../ids.ts";
import type { RuleChoice, RuledCall, RuleReach } from "./approval-rule.ts";

export interface Approvals {
  /**
   * Stores the question, shows it to owners, waits. `session`: the same tool need not ask again in this session. A call that a rule allows is
   * `once`, and nobody sees it. Nobody answered in time,
   * or the signal aborted: `expired`. So many wait already that nobody is asked: `full`. A question that was open when the gateway died
   * is expired at the next start.
   */
  ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** Oldest first. */
  pending(): readonly PendingApproval[];
  /**
   * `unknown`: there is no such open question, any more. `not_allowed`: only owners decide, and this person is none now. `no_such_rule`: this
   * question cannot be answered for always, or not so widely; `too_many_rules`: its agent has as many as it may have. Then it is open still.
   * `from`: the chat it was decided in, where roles may depend on it, or a notification.
   */
  decide(
    id: string,
    decision: ApprovalWish,
    by: Principal,
    from?: DecidedFrom,
  ): Promise<"done" | "unknown" | "not_allowed" | "no_such_rule" | "too_many_rules">;
}

/** Absent: the web console, a program or a command. */
export type DecidedFrom = ApproverChat | "notification";

/** What an owner says to an open question. */
export type ApprovalWish = PlainDecision | AlwaysWish;
/** Yes, and the same to every call that a rule of this reach allows. */
export type AlwaysWish = { readonly always: RuleReach };

export type ApproverChat = Pick<InboundMessage, "address" | "scope" | "place">;

export interface ApprovalQuestion {
  readonly tool: string;
  readonly callId: string;
  readonly caller: Caller;
  /** Why the owner is asked: a part of a sentence, such as "the tool always asks". */
  readonly because: string;
  /** What it will run with, redacted, for people to read. */
  readonly shown: unknown;
  /** SHA-256 over tool, caller and the exact parameters: what is approved is what runs. */
  readonly hash: string;
  /** An earlier answer for the whole session does not count: the tool is another one by now. */
  readonly anew?: true;
  /** What an answer for the whole session holds for, such as `write /home/ada/papers`; absent: every call of the tool. */
  readonly covers?: string;
  /** For rules; absent: none counts here, and none can be made. */
  readonly ruled?: RuledCall;
}

/** One that makes no rule. */
export type PlainDecision = "once" | "session" | "deny";
export type ApprovalDecision = PlainDecision | "always";
export type ApprovalAnswer = PlainDecision | "expired" | "full";

export interface PendingApproval {
  readonly id: string;
  readonly tool: string;
  /** As its caller numbers it: the `callId` of `turn.tool`. */
  readonly callId: string;
  readonly because: string;
  /** For programs. People are shown `shown`. */
  readonly input: unknown;
  /** The input as people read it before they decide: JSON, whole, with every hidden character written out. */
  readonly shown: string;
  readonly sessionKey: SessionKey;
  readonly turnId: TurnId;
  readonly principal: Principal;
  /** The chat its turn works for. */
  readonly origin: ChatAddress;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** The rules that "always" can make of it, the narrowest first; absent: none. */
  readonly rules?: readonly RuleChoice[];
}

/** What clients hear: a question, and later the same one with how it ended. */
export type ApprovalNews =
  | (PendingApproval & { readonly decision: null })
  | (Omit<PendingApproval, "input" | "shown" | "rules"> & {
      readonly decision: ApprovalDecision | "expired";
      readonly by: Principal | null;
      /** Of one that nobody answered: how long it waited, and what to do. A sentence for people. */
      readonly say?: string;
    });
