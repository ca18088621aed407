/** Signing in to a server from a command: the browser, the tokens, and a first look at its tools. The library is loaded here. */
import type { McpServerSettings } from "../../config/index.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { systemResolver } from "../../kit/outside/public-address.ts";
import { removePrivateFolder } from "../../store/index.ts";
import { credentialsFile } from "./oauth/credentials-file.ts";
import { openAddress } from "./open-connection.ts";
import { serverFolder } from "./state-file.ts";

interface SignInDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  /** Shows the person where to sign in. */
  show(url: URL): void;
}

interface SignInServer {
  readonly home: string;
  readonly name: string;
  readonly settings: McpServerSettings;
}

const NEVER = new AbortController().signal;

/** How many tools the server has, for whoever signed in. */
export async function signIn(deps: SignInDeps, { home, name, settings }: SignInServer): Promise<number> {
  const { withLogin } = await import("./oauth/login.ts");
  const { clock, ids, version, show } = deps;
  const quiet = { legacy: false, listChanged: () => undefined, closed: () => undefined, heard: () => undefined };
  const open = { clock, log: silentLog, resolve: systemResolver, version };
  return withLogin(
    { clock, ids, file: credentialsFile(home, name), show },
    settings,
    async (login) => {
      const connection = await openAddress(open, { name, settings, login: () => login }, quiet, NEVER);
      try {
        return (await connection.list(NEVER)).length;
      } finally {
        await connection.close();
      }
    },
    NEVER,
  );
}

/** Of a server that was removed: its login, and the list of its tools. */
export function forgetServer(home: string, name: string): void {
  removePrivateFolder(serverFolder(home, name));
}
