/** Keys of programs as they are stored: by digest. A stolen database opens nothing. */
import type { ApiKey } from "../api-keys.ts";
import type { Principal } from "../ids.ts";

export interface ApiKeyStore {
  /** On the disk with its audit entry when it resolves. */
  put(key: StoredApiKey): Promise<void>;
  /** Newest first. */
  list(): Promise<readonly StoredApiKey[]>;
  /** Removes it; its audit entry stays. False: there was none. */
  remove(id: string, by: Principal): Promise<boolean>;
  touch(id: string, at: number): Promise<void>;
}

export interface StoredApiKey extends ApiKey {
  /** Of the secret. */
  readonly digest: string;
}
