/** Messages that were accepted, from the moment they are stored until their turn has ended. */
import type { InboundMessage } from "../chat.ts";
import type { AgentId, InboxId, InstanceId, Principal, Role, SessionKey, TurnId } from "../ids.ts";
import type { QueueMode } from "../session-settings.ts";
import type { BegunTurn } from "./turns.ts";

export interface InboxStore {
  /** Creates the session row on its first message and touches it otherwise, and begins its turn if that is asked for: in the same transaction. */
  accept(
    row: NewInboxRow,
  ): Promise<StoredRow | { readonly kind: "duplicate"; readonly id: InboxId; readonly fingerprint: string }>;
  /** Everything accepted whose turn has not ended, oldest first; `turn` is set when a previous process had begun it. */
  unfinished(): Promise<readonly UnfinishedRow[]>;
  /** Replaces the text of a message that no turn has claimed; fsynced. False: a turn has, or there is no such message. */
  rewrite(id: InboxId, text: string, at: number): Promise<boolean>;
  /** The fingerprint of the message with this event id, or of its newest edit (`<event id>#…`); null: it was never stored. */
  newestVersion(of: {
    readonly channel: string;
    readonly account: string;
    readonly eventId: string;
  }): Promise<string | null>;
  /** Null: there is no such message. */
  senderOf(id: InboxId): Promise<Principal | null>;
  /** The gateway that answers it, or has; null: there is no such message, or it is older than this is known. */
  nodeOf(id: InboxId): Promise<InstanceId | null>;
}

interface StoredRow {
  readonly kind: "stored";
  /** Of the session; null: none was chosen. */
  readonly mode: QueueMode | null;
  /** The overflow that is only counted from now on, because this row is one too many. */
  readonly hidden: InboxId | null;
  /** The turn that began with it; null: none was to, or another one runs in the session. */
  readonly begun: BegunTurn | null;
}

export interface NewInboxRow {
  readonly id: InboxId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly priority: number;
  readonly message: InboundMessage;
  /** Its session was full. `maxShown`: of one chat, that many are to be shown; the oldest above it is only counted. */
  readonly overflow?: { readonly maxShown: number };
  /** Its turn begins with it, unless another one runs in its session. */
  readonly begins?: { readonly turnId: TurnId; readonly at: number };
}

export interface UnfinishedRow {
  readonly id: InboxId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly priority: number;
  readonly message: InboundMessage;
  readonly turn: {
    readonly turnId: TurnId;
    readonly attempt: number;
    readonly unsafeToRetry: boolean;
    readonly crashes: number;
  } | null;
  readonly mode: QueueMode | null;
  /** Of overflow only what is shown is listed; the first of a chat (and turn) says how many more there are. */
  readonly overflow: { readonly hidden: number } | null;
}
