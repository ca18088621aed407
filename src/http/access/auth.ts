/** Who calls: the operator, by bearer token or by the cookie of an earlier sign-in, or a program by its key. Knows secrets only as digests; compares in constant time. */
import { createHmac } from "node:crypto";
import type { ApiKey, ApiKeys } from "../../contracts/api-keys.ts";
import type { CountSharing } from "../../contracts/nodes.ts";
import { OPERATOR, type Principal } from "../../contracts/ids.ts";
import type { SignInStore } from "../../contracts/store/sign-ins.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { isKeySecret } from "../../routing/index.ts";
import { createCredentialEndings } from "./credential-endings.ts";
import { createCodesElsewhere } from "./codes-elsewhere.ts";
import { type Codes, createCodes } from "./sign-in-codes.ts";
import { digest, hexDigest, sameDigest } from "./digests.ts";
import { type Attempt, createAttempts, isStrongSecret } from "./attempts.ts";
import { createKeyAccess } from "./key-access.ts";
import { createWebhookAccess, type WebhookAccess } from "./hook-access.ts";
import { readBearer } from "./bearer.ts";
import type { AuthSettings } from "../types.ts";

export interface Identity {
  readonly principal: Principal;
  readonly by: "bearer" | "cookie" | "key";
  /** The key of a program, which says what it may do. Null: the operator, who may do everything. */
  readonly key: ApiKey | null;
  /** Stands for the token, password or key this identity rests on; when that is rotated, the identity ends. */
  readonly authDigest: string;
  /** Of the cookie, when there is one. */
  readonly signIn: string | null;
  readonly expiresAt: number;
}

type AuthVerdict =
  | { readonly kind: "known"; readonly identity: Identity }
  | { readonly kind: "none" }
  | { readonly kind: "wrong" }
  | { readonly kind: "locked"; readonly retryAfterMs: number };

type SignInVerdict =
  | { readonly kind: "in"; readonly cookie: string }
  | { readonly kind: "wrong" }
  | { readonly kind: "locked"; readonly retryAfterMs: number };

interface Browser {
  readonly identity: Identity;
  readonly createdAt: number;
  readonly browser: string | null;
}

export interface Auth extends WebhookAccess {
  authorize(headers: Headers, client: string): Promise<AuthVerdict>;
  /** Counts one request of a key. Throws `rate_limited`. */
  count(identity: Pick<Identity, "key">): void;
  signIn(attempt: SignInAttempt, client: string): Promise<SignInVerdict>;
  signOut(identity: Identity): Promise<void>;
  /** Whether the sign-in with this digest holds now. */
  isSignedIn(signIn: string): Promise<boolean>;
  /** Browsers that are signed in with the credential of now, newest first. */
  browsers(): Promise<readonly Browser[]>;
  newCode(): string;
  /** True once, for the digest of a code that was made here. */
  useCode(digest: string): boolean;
  /** The credential that a browser signs in with, besides a code. */
  mode(): "token" | "password";
  update(settings: AuthSettings): void;
  /** Whether the credential behind this identity is still the valid one. */
  isCurrent(identity: Identity): boolean;
  /** Aborts when the credential behind this identity is replaced, revoked or expires. */
  ending(identity: Identity): AbortSignal;
}

/** `secret` is the text of the one field of the sign-in form: the password in password mode, the token otherwise. */
export type CredentialKind = "token" | "password" | "code" | "secret";
export interface SignInAttempt {
  readonly kind: CredentialKind;
  readonly value: string;
  /** What the browser calls itself; null: it has not said. */
  readonly browser: string | null;
}

interface AuthDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly signIns: SignInStore;
  readonly keys: Pick<ApiKeys, "find" | "of" | "ending" | "used">;
  /** What rate limits count at all gateways; absent: there are no others. */
  readonly counts?: CountSharing | undefined;
  readonly elsewhere?: SignInsElsewhere | undefined;
}

/** Sign-ins at other gateways on the same database. */
export interface SignInsElsewhere {
  /** True once, for the digest of a code that one of them made. */
  useCode(digest: string): Promise<boolean>;
  /** What browsers had open there is closed when it resolves. Throws `node_silent` where one lives and does not say so. */
  signedOut(): Promise<void>;
}

export const SIGN_IN_MS = 30 * 24 * 60 * 60_000;
const COOKIE_BYTES = 32;
const MAX_COOKIE_CHARS = 256;

interface Credentials {
  readonly token: Digested;
  /** Null: the token signs browsers in. */
  readonly password: Digested | null;
  readonly tokenAuth: string;
  /** What a cookie rests on: the password in password mode, the token otherwise. */
  readonly signInAuth: string;
  readonly hook: Digested | null;
}

interface Digested {
  readonly digest: Uint8Array;
  readonly strong: boolean;
}

/** `bindingKey` lies outside the database, so that a stolen one cannot be used to try passwords against `authDigest`. */
export function createAuth(
  deps: AuthDeps,
  options: { settings: AuthSettings; bindingKey: Uint8Array; cookieName: () => string },
): Auth {
  const { clock, ids, log, signIns, keys, counts } = deps;
  const attempts = createAttempts({ clock, log, counted: counts?.of("wrong credentials") });
  const keyAccess = createKeyAccess({ clock, attempts, keys, counted: counts?.of("requests of keys") });
  const codes = createCodes(clock, ids);
  const isCodeOfOther = createCodesElsewhere({ attempts, elsewhere: deps.elsewhere });
  const endings = createCredentialEndings();
  let current = digestsOf(options.settings, options.bindingKey);
  endings.keep([current.tokenAuth, current.signInAuth]);

  const isCurrent = ({ by, key, principal, authDigest, expiresAt }: Identity): boolean => {
    if (key !== null) return keys.of(principal) !== null;
    return expiresAt > clock.now() && authDigest === (by === "bearer" ? current.tokenAuth : current.signInAuth);
  };

  /** An unknown cookie is no failure: 32 random bytes cannot be guessed, and after a rotation every open browser would count as a guess. */
  const byCookie = async (headers: Headers): Promise<Identity | null> => {
    const value = readCookie(headers.get("cookie"), options.cookieName());
    if (value === null) return null;
    return bySignIn(hexDigest(value));
  };
  const bySignIn = async (signIn: string): Promise<Identity | null> => {
    const found = await signIns.find(signIn);
    const identity: Identity | null = found && { ...found, by: "cookie", key: null, signIn };
    return identity && isCurrent(identity) ? identity : null;
  };

  return {
    ...createWebhookAccess({ log, attempts, token: () => current.hook }),
    isCurrent,
    count: keyAccess.count,
    ending: ({ key, authDigest }) => (key === null ? endings.of(authDigest) : keys.ending(key.id)),
    async authorize(headers, client) {
      const bearer = readBearer(headers.get("authorization"));
      if (bearer === null) {
        const identity = await byCookie(headers);
        return identity ? { kind: "known", identity } : { kind: "none" };
      }
      const { digest: expected, strong } = current.token;
      const right = sameDigest(bearer, expected);
      // a token that somebody chose may look like a key
      if (!right && isKeySecret(bearer)) return keyAccess.authorize(bearer, client);
      const verdict = attempts.judge({ kind: "token", client, strong, right });
      return verdict.kind === "right" ? { kind: "known", identity: bearerIdentity(current.tokenAuth) } : verdict;
    },
    async signIn(attempt, client) {
      const found = examined(current, codes, attempt);
      const right = found.right || (await isCodeOfOther(attempt, client));
      const verdict = attempts.judge({ client, ...found, right });
      if (verdict.kind !== "right") return verdict;
      return { kind: "in", cookie: await remember(deps, current.signInAuth, attempt.browser) };
    },
    async signOut(identity) {
      if (identity.signIn !== null) await signIns.remove(identity.signIn);
    },
    isSignedIn: async (signIn) => (await bySignIn(signIn)) !== null,
    browsers: async () => (await storedBrowsers(deps)).filter(({ identity }) => isCurrent(identity)),
    newCode: codes.make,
    useCode: codes.use,
    mode: () => (current.password === null ? "token" : "password"),
    update(settings) {
      current = digestsOf(settings, options.bindingKey);
      endings.keep([current.tokenAuth, current.signInAuth]);
    },
  };
}

/** Those that have not expired, newest first. */
async function storedBrowsers({ clock, signIns }: Pick<AuthDeps, "clock" | "signIns">): Promise<readonly Browser[]> {
  const known = await signIns.list(clock.now());
  return known.map(({ digest: signIn, createdAt, principal, expiresAt, authDigest, browser }) => {
    return { identity: { principal, expiresAt, authDigest, by: "cookie", key: null, signIn }, createdAt, browser };
  });
}

/** Stores a new sign-in and gives the cookie that stands for it. */
async function remember(
  { clock, ids, signIns }: AuthDeps,
  authDigest: string,
  browser: string | null,
): Promise<string> {
  const cookie = ids.secret(COOKIE_BYTES);
  const now = clock.now();
  const signIn = { digest: hexDigest(cookie), principal: OPERATOR, createdAt: now, expiresAt: now + SIGN_IN_MS };
  await signIns.put({ ...signIn, authDigest, browser });
  return cookie;
}

/** A code is used up by this. In password mode the token signs no browser in, and without it there is no password. */
function examined(
  { token, password }: Credentials,
  codes: Codes,
  { kind, value }: SignInAttempt,
): Pick<Attempt, "kind" | "right" | "strong"> {
  if (kind === "code") return { kind, right: codes.use(hexDigest(value)), strong: true };
  const isPassword = kind === "password" || (kind === "secret" && password !== null);
  if (isPassword) return { kind: "password", right: sameDigest(value, password?.digest ?? null), strong: false };
  return { kind: "token", right: sameDigest(value, token.digest) && password === null, strong: token.strong };
}

function bearerIdentity(authDigest: string): Identity {
  return { principal: OPERATOR, by: "bearer", key: null, authDigest, signIn: null, expiresAt: Infinity };
}

function digestsOf(settings: AuthSettings, bindingKey: Uint8Array): Credentials {
  const bind = (kind: string, value: string) =>
    createHmac("sha256", bindingKey).update(`sign-in:${kind}:${value}`).digest("hex");
  const token = settings.token.reveal();
  const password = settings.password?.reveal() ?? null;
  const tokenAuth = bind("token", token);
  return {
    token: digested(token),
    password: password === null ? null : digested(password),
    tokenAuth,
    signInAuth: password === null ? tokenAuth : bind("password", password),
    hook: settings.hookToken ? digested(settings.hookToken.reveal()) : null,
  };
}

function digested(value: string): Digested {
  return { digest: digest(value), strong: isStrongSecret(value) };
}

function readCookie(header: string | null, name: string): string | null {
  for (const pair of header?.split(";") ?? []) {
    const [key, value = ""] = pair.trim().split("=", 2);
    if (key === name && value.length <= MAX_COOKIE_CHARS && /^[\w-]+$/.test(value)) return value;
  }
  return null;
}
