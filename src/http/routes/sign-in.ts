/** Signing a browser in and out. The cookie is random and means nothing by itself; the store knows only its digest. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { type Auth, type CredentialKind, type Identity, SIGN_IN_MS, type SignInAttempt } from "../access/auth.ts";
import { checked } from "../checked.ts";
import { lockedOut } from "../problem.ts";
import { jsonOf, NO_BODY, noContent, OPERATOR_POST, type Route } from "../route.ts";
import { CODE_MS } from "../access/sign-in-codes.ts";
import { ADMIN } from "../access/key-reach.ts";

const MAX_SIGN_IN_BYTES = 8 * 1024;
const MAX_CREDENTIAL_CHARS = 1_024;
const MAX_NAME_CHARS = 80;

export interface SignInDeps {
  readonly auth: Auth;
  cookieName(): string;
  /** Ends what is still open in the name of this identity, at every gateway. */
  signedOut(identity: Identity): Promise<void>;
}

const ONE_CREDENTIAL = "A sign-in takes exactly one of code, token, password and secret.";
const NOT_FOR_KEYS = "A key makes no sign-in links: whoever signs in with one is the operator.";

/** For the list of browsers alone. */
const BrowserName = Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS }));

type SignInBody = Partial<Record<CredentialKind | "browser", string>>;

const KINDS: readonly CredentialKind[] = ["code", "token", "password", "secret"];

const WRONG: Record<ReturnType<Auth["mode"]>, Record<CredentialKind, string>> = {
  token: {
    code: "This sign-in link was used before or is older than ten minutes. Sign in with the gateway's token instead; it is in the file `token` of the state directory.",
    token: "This is not the gateway's token.",
    password: "This gateway has no password (gateway.auth.mode). Sign in with its token.",
    secret: "This is not the gateway's token. Check for a missing character.",
  },
  password: {
    code: "This sign-in link was used before or is older than ten minutes. Sign in with the password instead.",
    token: "Browsers sign in with the password here (gateway.auth.mode); the token is for programs.",
    password: "This is not the right password.",
    secret: "This is not the right password. Browsers do not sign in with the token here.",
  },
};

export function signInRoutes(deps: SignInDeps): readonly Route[] {
  const credential = Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CREDENTIAL_CHARS }));
  const Body = checked(
    Type.Object(
      { code: credential, token: credential, password: credential, secret: credential, browser: BrowserName },
      { additionalProperties: false },
    ),
  );
  return [
    {
      method: "POST",
      path: "/api/sign-in",
      auth: "public",
      scope: "open",
      body: { kind: "json", maxBytes: MAX_SIGN_IN_BYTES },
      async handle(call) {
        const attempt = attemptOf(await Body.parse(call.json));
        const verdict = await deps.auth.signIn(attempt, call.client.key);
        if (verdict.kind === "locked") throw lockedOut(verdict.retryAfterMs);
        if (verdict.kind === "wrong") {
          const say = WRONG[deps.auth.mode()][attempt.kind];
          throw new GatewayError("unauthorized", "wrong", { say });
        }
        return noContent({ "set-cookie": cookie(deps.cookieName(), verdict.cookie, SIGN_IN_MS, call.client.secure) });
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/sign-in-links",
      scope: ADMIN,
      handle(call) {
        // whoever signs in with it is the operator, and no key is
        if (call.identity?.key)
          throw new GatewayError("forbidden", "a key asked for a sign-in link", { say: NOT_FOR_KEYS });
        return jsonOf<"POST /api/sign-in-links">({ code: deps.auth.newCode(), expiresInMs: CODE_MS }, 201);
      },
    },
    {
      method: "POST",
      path: "/api/sign-out",
      auth: "operator",
      scope: ADMIN,
      body: NO_BODY,
      async handle(call) {
        if (call.identity?.by === "cookie") {
          await deps.auth.signOut(call.identity);
          await deps.signedOut(call.identity);
        }
        return noContent({ "set-cookie": cookie(deps.cookieName(), "", 0, call.client.secure) });
      },
    },
  ];
}

function attemptOf(body: SignInBody): SignInAttempt {
  const [kind, ...more] = KINDS.filter((one) => body[one] !== undefined);
  const value = kind && body[kind];
  if (kind === undefined || value === undefined || more.length > 0)
    throw new GatewayError("invalid_params", "not one credential", { say: ONE_CREDENTIAL });
  return { kind, value, browser: body.browser ?? null };
}

function cookie(name: string, value: string, ageMs: number, secure: boolean): string {
  const flags = `HttpOnly; SameSite=Strict; Path=/; Max-Age=${ageMs / 1_000}`;
  return `${name}=${value}; ${flags}${secure ? "; Secure" : ""}`;
}
