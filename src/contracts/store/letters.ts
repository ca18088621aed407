/**
 * What gateways on one database say to each other. A letter is for the moment: it is gone after a minute, and may be lost when the database
 * crashes. Whoever reads notices that letters of a sender are missing, and is told. Nothing that has to be kept is only a letter.
 */
import type { InstanceId } from "../ids.ts";

export interface Letter {
  /** Null: for every other gateway. */
  readonly to: InstanceId | null;
  readonly kind: string;
  /** JSON. */
  readonly body: string;
}

export interface ReceivedLetter extends Letter {
  readonly from: InstanceId;
}

export interface LetterStore {
  /**
   * Letters arrive in the order in which they were sent, each once. Returns at once: what cannot be sent for a long time is lost, and the
   * others notice that something is missing.
   */
  send(letter: Letter): void;
  /** For this gateway, and for all. Not its own, and none of a gateway from which another one has taken over. */
  onLetter(listener: (letter: ReceivedLetter) => void): Disposable;
  /** Some letters of this gateway did not arrive. */
  onMissed(listener: (from: InstanceId) => void): Disposable;
  /** The other gateways that live, as of a moment ago. Answers from memory. */
  others(): readonly InstanceId[];
  /** The same, as of now. */
  live(): Promise<readonly InstanceId[]>;
  /** Another gateway has begun, or is no longer among those that live. */
  onOther(listener: (change: OtherChange) => void): Disposable;
}

export interface OtherChange {
  readonly node: InstanceId;
  readonly is: "here" | "gone";
}
