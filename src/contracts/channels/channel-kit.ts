/** What chat platforms share, as channels of plugins get it: a plugin imports types of the gateway, and no code. */
import type { ChatAddress, InboundMessage } from "../chat.ts";
import type { Role } from "../ids.ts";
import type { PlainDecision, ApproverChat, PendingApproval } from "../tools/approval.ts";
import type { PlatformDeps } from "./platform.ts";

export interface PluginChannelDeps extends PlatformDeps {
  readonly kit: ChannelKit;
}

export interface ChannelKit {
  /** Puts it in as the newest. When there are more than `max`, the oldest is forgotten. */
  remember<K, V>(known: Map<K, V>, key: K, value: V, max: number): void;
  /** The last place after `from` and up to `wanted` where a text may be cut without breaking what people see as one character. */
  wholeCharacters(text: string, from: number, wanted: number): number;
  /** Approvals in the chats that their turns work for. The signal ends what it does. */
  startApprovals(platform: ApprovalPlatform, signal: AbortSignal): ApprovalMessages;
}

/** How a platform shows approvals. */
export interface ApprovalPlatform {
  readonly channel: string;
  readonly account: string;
  /**
   * Posts the whole call and a way to choose each decision. Resolves with the id of the message in which it is decided; null: it cannot be
   * decided in this chat.
   */
  post(approval: PendingApproval, signal: AbortSignal): Promise<string | null>;
  removeButtons(to: ChatAddress, messageId: string, signal: AbortSignal): Promise<void>;
  reply(to: ChatAddress, messageId: string, text: string, signal: AbortSignal): Promise<void>;
  /** After which pause a failed post is tried again; null: never, because it may be shown or would fail again. */
  retryAfterMs(error: unknown): number | null;
}

export interface ApprovalMessages extends Disposable {
  /** The account can send: posts what waits already, and from now on each new approval. */
  open(): void;
  /** `over`: it is not open in this message. */
  decide(press: ApprovalPress): Promise<"decided" | "over" | "not_allowed">;
  settled(): Promise<void>;
}

export interface ApprovalPress {
  readonly approval: string;
  readonly decision: PlainDecision;
  readonly messageId: string;
  readonly by: Pick<InboundMessage, "sender"> & ApproverChat;
  readonly role: Role;
}
