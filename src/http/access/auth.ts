/** Who calls: the operator, by bearer token or by the cookie of an earlier sign-in. Knows secrets only as digests; compares in constant time. */
import { createHmac } from "node:crypto";
import type { Principal } from "../../contracts/ids.ts";
import type { SignInStore } from "../../contracts/store.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { createCredentialEndings } from "./credential-endings.ts";
import { createCodes } from "./sign-in-codes.ts";
import { digest, hexDigest, sameDigest } from "./digests.ts";
import { createHookAccess, type HookAccess, type HookAccessDeps } from "./hook-access.ts";
import { readBearer } from "./bearer.ts";
import { createFailureLimiter, type FailureLimiter, type LimitKey } from "./failure-limiter.ts";
import type { AuthSettings } from "../types.ts";

export interface Identity {
  readonly principal: Principal;
  readonly by: "bearer" | "cookie";
  /** Stands for the token or password this identity rests on; when that is rotated, the identity ends. */
  readonly authDigest: string;
  /** Of the cookie, when there is one. */
  readonly signIn: string | null;
  readonly expiresAt: number;
}

export type AuthVerdict =
  | { readonly kind: "known"; readonly identity: Identity }
  | { readonly kind: "none" }
  | { readonly kind: "wrong" }
  | { readonly kind: "locked"; readonly retryAfterMs: number };

export type SignInVerdict =
  | { readonly kind: "in"; readonly cookie: string }
  | { readonly kind: "wrong" }
  | { readonly kind: "locked"; readonly retryAfterMs: number };

export interface Auth extends HookAccess {
  authorize(headers: Headers, client: string): Promise<AuthVerdict>;
  signIn(attempt: SignInAttempt, client: string): Promise<SignInVerdict>;
  signOut(identity: Identity): Promise<void>;
  newCode(): string;
  update(settings: AuthSettings): void;
  /** Whether the credential behind this identity is still the valid one. */
  isCurrent(identity: Identity): boolean;
  /** Aborts when the credential behind this identity is replaced. */
  ending(identity: Identity): AbortSignal;
}

/** `secret` is what a person typed into the one field of the sign-in form: the token or the password, whichever it is. */
export type CredentialKind = "token" | "password" | "code" | "secret";
export interface SignInAttempt {
  readonly kind: CredentialKind;
  readonly value: string;
}

export interface AuthDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly signIns: SignInStore;
}

export const OPERATOR = "operator" as Principal;
export const SIGN_IN_MS = 30 * 24 * 60 * 60_000;
const COOKIE_BYTES = 32;
const MAX_COOKIE_CHARS = 256;
const CLIENT_FAILURES_PER_MINUTE = 10;
/** Higher than for one client, so that one stranger's guesses do not keep the owner out from another address. */
const SECRET_FAILURES_PER_MINUTE = 100;

interface Credentials {
  readonly token: Uint8Array;
  readonly password: Uint8Array | null;
  readonly tokenAuth: string;
  readonly passwordAuth: string | null;
  readonly hook: Uint8Array | null;
}

/** `bindingKey` lies outside the database, so that a stolen one cannot be used to try passwords against `authDigest`. */
export function createAuth(
  deps: AuthDeps,
  options: { settings: AuthSettings; bindingKey: Uint8Array; cookieName: () => string },
): Auth {
  const { clock, ids, log, signIns } = deps;
  const limiter = createFailureLimiter(clock);
  const codes = createCodes(clock, ids);
  const endings = createCredentialEndings();
  let current = digestsOf(options.settings, options.bindingKey);
  endings.keep([current.tokenAuth, current.passwordAuth]);

  const isCurrent = (identity: Pick<Identity, "authDigest" | "expiresAt">): boolean =>
    identity.expiresAt > clock.now() &&
    (identity.authDigest === current.tokenAuth || identity.authDigest === current.passwordAuth);

  const failed = (kind: CredentialKind, client: string): { readonly kind: "wrong" } => {
    limiter.fail(limitKeys(kind, client));
    log.warn("credential refused", { credential: kind, client });
    return { kind: "wrong" };
  };

  /** An unknown cookie is no failure: 32 random bytes cannot be guessed, and after a rotation every open page would lock its owner out. */
  const byCookie = async (headers: Headers): Promise<Identity | null> => {
    const value = readCookie(headers.get("cookie"), options.cookieName());
    if (value === null) return null;
    const signIn = hexDigest(value);
    const found = await signIns.find(signIn);
    return found && isCurrent(found) ? { ...found, by: "cookie", signIn } : null;
  };

  /** The credential a sign-in rests on from now on, or null when it is wrong. A code is used up by this. */
  const authOf = ({ kind, value }: SignInAttempt): string | null => {
    if (kind === "code") return codes.use(value) ? current.tokenAuth : null;
    return authOfSecret(current, kind, value);
  };

  return {
    ...createHookAccess({ log, ...hookLimits(limiter), token: () => current.hook }),
    isCurrent,
    ending: (identity) => endings.of(identity.authDigest),
    async authorize(headers, client) {
      const bearer = readBearer(headers.get("authorization"));
      const retryAfterMs = bearer === null ? 0 : limiter.lockedForMs(limitKeys("token", client));
      if (bearer !== null && retryAfterMs === 0) {
        if (!sameDigest(bearer, current.token)) return failed("token", client);
        return { kind: "known", identity: bearerIdentity(current.tokenAuth) };
      }
      // A valid cookie passes while its address is locked: otherwise any program on the same machine could keep the owner out of the page.
      const identity = await byCookie(headers);
      if (identity) return { kind: "known", identity };
      return retryAfterMs > 0 ? { kind: "locked", retryAfterMs } : { kind: "none" };
    },
    async signIn(attempt, client) {
      const retryAfterMs = limiter.lockedForMs(limitKeys(attempt.kind, client));
      if (retryAfterMs > 0) return { kind: "locked", retryAfterMs };
      const authDigest = authOf(attempt);
      if (authDigest === null) return failed(attempt.kind, client);
      return { kind: "in", cookie: await remember(deps, authDigest) };
    },
    async signOut(identity) {
      if (identity.signIn !== null) await signIns.remove(identity.signIn);
    },
    newCode: codes.make,
    update(settings) {
      current = digestsOf(settings, options.bindingKey);
      endings.keep([current.tokenAuth, current.passwordAuth]);
    },
  };
}

/** Stores a new sign-in and gives the cookie that stands for it. */
async function remember({ clock, ids, signIns }: AuthDeps, authDigest: string): Promise<string> {
  const cookie = ids.secret(COOKIE_BYTES);
  const now = clock.now();
  const signIn = { digest: hexDigest(cookie), principal: OPERATOR, createdAt: now, expiresAt: now + SIGN_IN_MS };
  await signIns.put({ ...signIn, authDigest });
  return cookie;
}

/** Both are always compared, so that the time taken does not tell which one it was. */
function authOfSecret(current: Credentials, kind: Exclude<CredentialKind, "code">, value: string): string | null {
  const isToken = sameDigest(value, current.token);
  const isPassword = sameDigest(value, current.password);
  if (isToken && kind !== "password") return current.tokenAuth;
  return isPassword && kind !== "token" ? current.passwordAuth : null;
}

function bearerIdentity(authDigest: string): Identity {
  return { principal: OPERATOR, by: "bearer", authDigest, signIn: null, expiresAt: Infinity };
}

function hookLimits(limiter: FailureLimiter): Pick<HookAccessDeps, "lockedForMs" | "fail"> {
  return {
    lockedForMs: (client) => limiter.lockedForMs(limitKeys("hook", client)),
    fail: (client) => limiter.fail(limitKeys("hook", client)),
  };
}

function limitKeys(kind: CredentialKind | "hook", client: string): readonly LimitKey[] {
  return [
    { name: `client:${client}`, failuresPerMinute: CLIENT_FAILURES_PER_MINUTE },
    { name: `secret:${kind}`, failuresPerMinute: SECRET_FAILURES_PER_MINUTE },
  ];
}

function digestsOf(settings: AuthSettings, bindingKey: Uint8Array): Credentials {
  const bind = (kind: string, value: string) => createHmac("sha256", bindingKey).update(`sign-in:${kind}:${value}`);
  const token = settings.token.reveal();
  const password = settings.password?.reveal() ?? null;
  return {
    token: digest(token),
    password: password === null ? null : digest(password),
    tokenAuth: bind("token", token).digest("hex"),
    passwordAuth: password === null ? null : bind("password", password).digest("hex"),
    hook: settings.hookToken ? digest(settings.hookToken.reveal()) : null,
  };
}

function readCookie(header: string | null, name: string): string | null {
  for (const pair of header?.split(";") ?? []) {
    const [key, value = ""] = pair.trim().split("=", 2);
    if (key === name && value.length <= MAX_COOKIE_CHARS && /^[\w-]+$/.test(value)) return value;
  }
  return null;
}
