/** Responses that programs may ask for again and go on with. Each belongs to whoever asked for it: nobody else finds it. */
import type { Principal } from "../ids.ts";

export interface ResponseStore {
  /** Instead of what is stored under this id. */
  put(response: StoredResponse): Promise<void>;
  find(id: string, principal: Principal): Promise<StoredResponse | null>;
  /** It and all before it, oldest first. `missing`: one of them is not there. `too_long`: there are more than `max`. */
  chain(id: string, principal: Principal, max: number): Promise<readonly StoredResponse[] | "missing" | "too_long">;
  /** False: there was none. */
  remove(id: string, principal: Principal): Promise<boolean>;
  /** Those that have not ended. */
  open(): Promise<readonly StoredResponse[]>;
  /** Takes whole conversations away, oldest first. How many responses are gone. */
  prune(rule: ResponseRetention): Promise<number>;
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

/** A conversation goes when its newest response is older than `before`, or when newer ones of the same person fill their share. */
export interface ResponseRetention {
  readonly before: number;
  readonly maxEach: number;
  readonly maxCharsEach: number;
}
