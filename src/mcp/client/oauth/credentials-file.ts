/** Where the login of one MCP server is kept: clients that authorization servers know us by, and tokens. Readable by its owner alone. */
import { isObject } from "../../../kit/json.ts";
import { readPrivateJson, writePrivateJson } from "../../../store/index.ts";
import { credentialsPath } from "../state-file.ts";

/** As the library gives and takes them; it checks what it reads. */
interface Credentials {
  /** By issuer, so that no authorization server is shown what another one gave. */
  readonly clients: Readonly<Record<string, object>>;
  readonly tokens: object | null;
  /** The authorization server that the client of the settings was shown to first: no other one gets its secret. */
  readonly issuer: string | null;
  /** The port of the address that the clients were registered with. */
  readonly port: number | null;
}

export interface CredentialsFile {
  read(): Credentials;
  change(change: Partial<Credentials>): void;
}

const NOTHING: Credentials = { clients: {}, tokens: null, issuer: null, port: null };
const MAX_FILE_CHARS = 1024 * 1024;

/** Read anew each time: `pi-gw mcp login` writes it while the gateway runs. */
export function credentialsFile(home: string, name: string): CredentialsFile {
  const path = credentialsPath(home, name);
  const read = (): Credentials => {
    const value = readPrivateJson(path, MAX_FILE_CHARS);
    if (!isObject(value)) return NOTHING;
    const { clients, tokens, issuer, port } = value;
    return {
      clients: isObject(clients) ? objectsOf(clients) : {},
      tokens: isObject(tokens) ? tokens : null,
      issuer: typeof issuer === "string" ? issuer : null,
      port: typeof port === "number" ? port : null,
    };
  };
  return {
    read,
    change(change) {
      const before = read();
      writePrivateJson(path, {
        clients: change.clients ?? before.clients,
        tokens: change.tokens === undefined ? before.tokens : change.tokens,
        issuer: change.issuer === undefined ? before.issuer : change.issuer,
        port: change.port === undefined ? before.port : change.port,
      });
    },
  };
}

function objectsOf(value: Readonly<Record<string, unknown>>): Record<string, object> {
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (isObject(one) ? [[key, one]] : [])));
}
