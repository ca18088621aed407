/** Where the login of one MCP server is kept: clients that authorization servers know us by, and tokens. Readable by its owner alone. */
import { isObject } from "../../../kit/json.ts";
import { readPrivateJson, writePrivateJson } from "../../../store/index.ts";
import { credentialsPath } from "../state-file.ts";

/** As the library gives and takes them; it checks what it reads. */
interface Credentials {
  /** By issuer, so that no authorization server is shown what another one gave. */
  readonly clients: Readonly<Record<string, object>>;
  /** Null: nobody has signed in. Read by `tokensFor` alone: no other address is shown them, whatever the server of this name has in the settings now. */
  readonly login: { readonly address: string; readonly tokens: object } | null;
  /** The authorization server that the client of the settings was shown to first: no other one gets its secret. */
  readonly issuer: string | null;
  /** The port of the address that the clients were registered with. */
  readonly port: number | null;
}

export interface CredentialsFile {
  read(): Credentials;
  change(change: Partial<Credentials>): void;
}

const NOTHING: Credentials = { clients: {}, login: null, issuer: null, port: null };
const MAX_FILE_CHARS = 1024 * 1024;

/** Read anew each time: `pi-gw mcp login` writes it while the gateway runs. */
export function credentialsFile(home: string, name: string): CredentialsFile {
  const path = credentialsPath(home, name);
  const read = (): Credentials => {
    const value = readPrivateJson(path, MAX_FILE_CHARS);
    if (!isObject(value)) return NOTHING;
    const { clients, tokens, address, issuer, port } = value;
    return {
      clients: isObject(clients) ? objectsOf(clients) : {},
      login: isObject(tokens) && typeof address === "string" ? { address, tokens } : null,
      issuer: typeof issuer === "string" ? issuer : null,
      port: typeof port === "number" ? port : null,
    };
  };
  return {
    read,
    change(change) {
      const before = read();
      const login = change.login === undefined ? before.login : change.login;
      writePrivateJson(path, {
        clients: change.clients ?? before.clients,
        tokens: login?.tokens ?? null,
        address: login?.address ?? null,
        issuer: change.issuer === undefined ? before.issuer : change.issuer,
        port: change.port === undefined ? before.port : change.port,
      });
    },
  };
}

/** The tokens that somebody got at this address. Null: there are none, or they are another one's. */
export function tokensFor({ read }: Pick<CredentialsFile, "read">, url: string): object | null {
  const { login } = read();
  return login?.address === addressOf(url) ? login.tokens : null;
}

/** One way to write it. */
export function addressOf(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search}`;
}

function objectsOf(value: Readonly<Record<string, unknown>>): Record<string, object> {
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (isObject(one) ? [[key, one]] : [])));
}
