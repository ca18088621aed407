/** Browsers that are signed in, by the digests of their cookies. */
import type { Principal } from "../ids.ts";

/** Only digests are stored: a stolen database opens no session. */
interface StoredSignIn {
  readonly digest: string;
  readonly principal: Principal;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly authDigest: string;
  /** What it called itself; null: it has not said. */
  readonly browser: string | null;
}

export interface SignInStore {
  put(signIn: StoredSignIn): Promise<void>;
  find(
    digest: string,
  ): Promise<{ readonly principal: Principal; readonly expiresAt: number; readonly authDigest: string } | null>;
  remove(digest: string): Promise<void>;
  /** Those that have not expired, newest first; at most 100. */
  list(now: number): Promise<readonly StoredSignIn[]>;
}
