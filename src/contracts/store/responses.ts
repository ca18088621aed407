/** Responses that programs may ask for again and go on with. Each belongs to whoever asked for it: nobody else finds it. */
import type { InstanceId, Principal } from "../ids.ts";

export interface ResponseStore {
  /**
   * Instead of what is stored under this id. What this person has beyond their share goes in the same transaction, the oldest conversations
   * first; so that this is not done with every response, a tenth of the share is free afterwards.
   */
  put(response: StoredResponse, share: ResponseShare): Promise<void>;
  find(id: string, principal: Principal): Promise<StoredResponse | null>;
  /** It and all before it, oldest first. `missing`: one of them is not there. `too_long`: there is more of them than `most`. */
  chain(
    id: string,
    principal: Principal,
    most: ResponseShare,
  ): Promise<readonly StoredResponse[] | "missing" | "too_long">;
  /** The other gateway that answers it; null: none, or it has ended. */
  answeredBy(id: string, principal: Principal): Promise<InstanceId | null>;
  /** False: there was none. */
  remove(id: string, principal: Principal): Promise<boolean>;
  /** Those that have not ended. */
  open(): Promise<readonly StoredResponse[]>;
  /** Takes conversations away whose newest response is older. How many responses are gone. */
  prune(before: number): Promise<number>;
}

export interface StoredResponse {
  readonly id: string;
  readonly principal: Principal;
  /** The first response of its conversation. */
  readonly chain: string;
  readonly previous: string | null;
  readonly createdAt: number;
  readonly ended: boolean;
  /** What was said with its request; JSON. */
  readonly said: unknown;
  /** The object that programs read; JSON. */
  readonly body: unknown;
}

/** How much of one person is kept, or of one conversation is read. */
export interface ResponseShare {
  readonly maxResponses: number;
  readonly maxChars: number;
}
