/**
 * The operator's token: a file of the state directory, and the same at all gateways on one database. There it is kept sealed with a key that is
 * in no database, so that whoever reads the rows has no token. A token of the configuration is never replaced.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { Config } from "../config/index.ts";
import type { TokenRotation } from "../http/index.ts";
import type { Ids } from "../kit/ids.ts";
import { type Secret, secret } from "../kit/secret.ts";
import { createTopic } from "../kit/topic.ts";
import { openSecretFiles } from "../store/index.ts";
import type { Core } from "./core.ts";

interface OperatorToken {
  /** With these settings. */
  of(config: Config): Secret;
  /** Throws `store_failed` when it could not be stored; the old token stays in force then. */
  rotate(): Promise<TokenRotation>;
  /** Another one is in force from now on. */
  onChange(listener: () => void): Disposable;
}

type TokenDeps = Pick<Core, "ids" | "log" | "store" | "config" | "options" | "secrets" | "nodes">;

/** No channel has such a name. */
const KEPT = ["gateway:operator", "token", "sealed"] as const;
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TOKEN_BYTES = 32;

export async function openOperatorToken(deps: TokenDeps): Promise<OperatorToken> {
  const { ids, log, store, config, options, secrets, nodes } = deps;
  const files = openSecretFiles({ ids, shared: config().store.secret }, options.home);
  const sealing = createSealing(ids, files.mediaKey);
  const changes = createTopic<void>();
  const facts = store.channelState;
  const put = (token: Secret): void => {
    secrets.hide(token);
    files.renewToken(token);
    changes.publish();
  };
  const reload = async (): Promise<void> => {
    const sealed = await facts.get(...KEPT);
    if (sealed === null || config().gateway.auth.token) return;
    const token = sealing.open(sealed);
    if (token === null)
      return log.warn("the token of the other gateways cannot be read: media.key is another one there");
    if (token === files.token(undefined).reveal()) return;
    put(secret(token));
    log.info("token of the other gateways is in force");
  };
  if (store.nodes.several) {
    nodes.onReload("token", reload);
    await reload(); // it may have been rotated while this gateway was away
  } else if ((await facts.get(...KEPT)) !== null) await facts.forget(...KEPT); // of a time on Postgres, to which the database may return
  return {
    of(settings) {
      const chosen = files.token(settings.gateway.auth.token);
      secrets.hide(chosen);
      return chosen;
    },
    async rotate() {
      const { auth } = config().gateway;
      if (auth.token) return { kind: "configured" };
      const made = secret(ids.secret(TOKEN_BYTES));
      if (store.nodes.several) await facts.put(...KEPT, sealing.seal(made.reveal()));
      put(made);
      const browsers = auth.mode === "password" ? "stay signed in" : "signed out"; // cookies rest on what browsers sign in with
      return { kind: "rotated", browsers, spread: () => nodes.others.agree("token") };
    },
    onChange: changes.subscribe,
  };
}

function createSealing(ids: Ids, mediaKey: Uint8Array) {
  const key = Buffer.from(hkdfSync("sha256", mediaKey, "", "pi-gateway token of several gateways", KEY_BYTES));
  return {
    seal(token: string): string {
      const nonce = Buffer.from(ids.secret(NONCE_BYTES), "base64url");
      const cipher = createCipheriv(CIPHER, key, nonce);
      const hidden = Buffer.concat([cipher.update(token, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString("base64url");
    },
    /** Null: it was sealed with another key, or changed. */
    open(sealed: string): string | null {
      const bytes = Buffer.from(sealed, "base64url");
      try {
        const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        cipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const shown = [cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()];
        return Buffer.concat(shown).toString("utf8");
      } catch {
        return null; // what does not open is not ours
      }
    },
  };
}
