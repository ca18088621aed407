/**
 * A person signs in to an MCP server: the browser goes to the service and comes back to a page of this program, and the tokens are kept. The work that
 * wanted the login is tried again after it, because a server may want more than one.
 */
import {
  type OAuthClientProvider,
  type StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../../config/index.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Ids } from "../../../kit/ids.ts";
import { openCallbackPage } from "./callback.ts";
import type { CredentialsFile } from "./credentials-file.ts";
import { createOAuthProvider } from "./provider.ts";

interface LoginDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly file: CredentialsFile;
  /** Shows the person where to sign in. */
  show(url: URL): void | Promise<void>;
}

interface LoginParts {
  readonly provider: OAuthClientProvider;
  /** The transport that met the login. */
  attach(transport: StreamableHTTPClientTransport): void;
}

const STATE_BYTES = 16;
const LOGIN_MS = 300_000;
/** First the server, then more rights for what it offers. */
const MAX_LOGINS = 3;

/** Gives back what `work` gives, as soon as it works. */
export async function withLogin<T>(
  deps: LoginDeps,
  settings: Pick<McpServerSettings, "oauth" | "url">,
  work: (parts: LoginParts) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { clock, ids, file, show } = deps;
  const { oauth = {}, url = "" } = settings;
  const state = ids.secret(STATE_BYTES);
  await using page = openCallbackPage(oauth.callbackPort ?? file.read().port ?? 0, state);
  file.change({ issuer: null }); // a person is there, and sees where to sign in
  let wanted: URL | null = null;
  let transport: StreamableHTTPClientTransport | null = null;
  const redirect = (to: URL): void => void (wanted = to);
  const provider = createOAuthProvider({ file, url, settings: oauth, redirectUrl: page.url, state, redirect });
  for (let login = 0; ; login++) {
    try {
      wanted = null;
      return await work({ provider, attach: (made) => void (transport = made) });
    } catch (error) {
      const to: URL | null = wanted;
      const met: StreamableHTTPClientTransport | null = transport;
      if (!isLogin(error) || to === null || met === null || login >= MAX_LOGINS) throw error;
      using limit = clock.deadline(LOGIN_MS, () => new Error("nobody signed in within five minutes"));
      await show(to);
      const answer = await page.answer(AbortSignal.any([signal, limit.signal]));
      await finish(met, answer);
    }
  }
}

/** Whatever it is wrapped in. */
function isLogin(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 4; one = one.cause, depth++)
    if (one instanceof UnauthorizedError) return true;
  return false;
}

async function finish(transport: StreamableHTTPClientTransport, answer: URLSearchParams): Promise<void> {
  const refused = answer.get("error");
  // the words of an answer are not shown: they could come from anybody who knows the port and the state
  if (refused !== null) throw new Error("the service refused the login");
  await transport.finishAuth(answer);
}
