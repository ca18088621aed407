/** Secrets that live as files of their own in the state directory: made once, 0600, never followed through a link. */
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { hkdfSync } from "node:crypto";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type { Ids } from "../kit/ids.ts";
import { type Secret, secret } from "../kit/secret.ts";
import { PRIVATE_FILE } from "./private-files.ts";

interface SecretFiles {
  /** Signs media links; the same across restarts. */
  readonly mediaKey: Uint8Array;
  /** The operator's bearer token. A configured one wins and is written down, so that `pi-gw` finds it where it always is. */
  token(configured: Secret | undefined): Secret;
  /** This token in place of the one that was made here; without one, a new one. */
  renewToken(token?: Secret): Secret;
}

const KEY_BYTES = 32;
const TOKEN_FILE = "token";
const MEDIA_KEY_FILE = "media.key";
const AUDIT_KEY_FILE = "audit.key";
const PUSH_KEY_FILE = "push.key";

interface KeySource {
  readonly ids: Ids;
  /** Gateways that share a database make the same keys of it. Absent: keys are drawn at random. */
  readonly shared?: Secret | undefined;
}

/** A file that is there stays: a key that changed would make what it signed worthless. */
export function openSecretFiles(deps: KeySource, home: string): SecretFiles {
  return {
    mediaKey: Buffer.from(readOrMake(join(home, MEDIA_KEY_FILE), newKey(deps, MEDIA_KEY_FILE)), "base64url"),
    token(configured) {
      const path = join(home, TOKEN_FILE);
      if (!configured) return secret(readOrMake(path, newKey(deps, TOKEN_FILE)));
      if (read(path) !== configured.reveal()) writeSecretFile(path, configured.reveal());
      return configured;
    },
    renewToken(token = secret(deps.ids.secret(KEY_BYTES))) {
      writeSecretFile(join(home, TOKEN_FILE), token.reveal());
      return token;
    },
  };
}

/** Makes the audit chain unforgeable for whoever can write the database but cannot read this file. */
export function openAuditKey(deps: KeySource, home: string): Uint8Array {
  return Buffer.from(readOrMake(join(home, AUDIT_KEY_FILE), newKey(deps, AUDIT_KEY_FILE)), "base64url");
}

/** Of notifications: browsers subscribed to it, so with another one all of them have to subscribe again. */
export function openPushKey(deps: KeySource, home: string): Uint8Array {
  return Buffer.from(readOrMake(join(home, PUSH_KEY_FILE), newKey(deps, PUSH_KEY_FILE)), "base64url");
}

function newKey({ ids, shared }: KeySource, file: string): () => string {
  if (!shared) return () => ids.secret(KEY_BYTES);
  return () =>
    Buffer.from(hkdfSync("sha256", shared.reveal(), "", `pi-gateway ${file}`, KEY_BYTES)).toString("base64url");
}

/** Only looks. Null: there is none. */
export function readAuditKey(home: string): Uint8Array | null {
  const known = read(join(home, AUDIT_KEY_FILE));
  return known ? Buffer.from(known, "base64url") : null;
}

function readOrMake(path: string, make: () => string): string {
  const known = read(path);
  if (known) return known;
  const made = make();
  writeSecretFile(path, made);
  return made;
}

function read(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return null;
  if (!found.isFile()) {
    throw new GatewayError("home_unusable", `${path} is not a plain file`, {
      say: `${path} must be a plain file. Move it away; a new one is made at the next start.`,
    });
  }
  if ((found.mode & 0o077) !== 0) chmodSync(path, PRIVATE_FILE);
  return readFileSync(path, "utf8").trim();
}

/** Temp file, fsync, rename: after a crash there is the old file or the new one, never half of one. */
export function writeSecretFile(path: string, text: string): void {
  const temp = `${path}.new`;
  const file = openSync(
    temp,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
    PRIVATE_FILE,
  );
  try {
    writeFileSync(file, `${text}\n`); // all of it, or an error
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temp, path);
}
