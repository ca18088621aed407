/**
 * Our side of OAuth for the MCP library: who we are, and where tokens are kept. The library does the rest: metadata, PKCE, registration, refreshing,
 * and the checks that keep the answer of one authorization server from another.
 */
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../../config/index.ts";
import { addressOf, type CredentialsFile, tokensFor } from "./credentials-file.ts";

type OAuthSettings = NonNullable<McpServerSettings["oauth"]>;

interface ProviderParts {
  readonly file: CredentialsFile;
  /** Of the server. */
  readonly url: string;
  readonly settings: OAuthSettings;
  /** Where the browser comes back to. */
  readonly redirectUrl: string;
  /** Told apart by this, an answer of the browser belongs to this login. */
  readonly state: string;
  /** Sends the person there; throws where there is nobody. */
  redirect(to: URL): void;
}

export function createOAuthProvider(parts: ProviderParts): OAuthClientProvider {
  const { file, url, settings, redirectUrl, state } = parts;
  let verifier = "";
  let found: OAuthDiscoveryState | undefined;
  return {
    redirectUrl,
    ...(settings.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: settings.clientMetadataUrl }),
    clientMetadata: clientMetadata(settings, redirectUrl),
    state: () => state,
    clientInformation: (context) => clientOf(parts, context?.issuer),
    saveClientInformation(client, context) {
      const issuer = context?.issuer ?? "";
      file.change({ clients: { ...file.read().clients, [issuer]: client }, port: Number(new URL(redirectUrl).port) });
    },
    tokens: () => (tokensFor(file, url) ?? undefined) as StoredOAuthTokens | undefined,
    saveTokens(tokens) {
      file.change({ login: { address: addressOf(url), tokens } });
      found = undefined; // from the redirection to its answer only: a server may name another authorization server later
    },
    redirectToAuthorization: parts.redirect,
    saveCodeVerifier(made) {
      verifier = made;
    },
    codeVerifier: () => verifier,
    discoveryState: () =>
      found ?? (settings.issuer === undefined ? undefined : { authorizationServerUrl: settings.issuer }),
    saveDiscoveryState(discovery) {
      found = discovery;
    },
    invalidateCredentials(scope) {
      if (scope === "all" || scope === "client") file.change({ clients: {} });
      if (scope === "all" || scope === "tokens") file.change({ login: null });
      if (scope === "all" || scope === "discovery") found = undefined;
      if (scope === "all" || scope === "verifier") verifier = "";
    },
  };
}

/** The one of the settings; otherwise the one that this authorization server gave us for the same address. */
function clientOf(
  { file, settings, redirectUrl }: ProviderParts,
  issuer: string | undefined,
): StoredOAuthClientInformation | undefined {
  const { clients, port, ...read } = file.read();
  if (settings.clientId !== undefined) {
    const first = settings.issuer ?? read.issuer ?? issuer;
    if (first !== undefined && read.issuer !== first) file.change({ issuer: first });
    return {
      client_id: settings.clientId,
      ...(settings.clientSecret === undefined ? {} : { client_secret: settings.clientSecret.reveal() }),
      ...(first === undefined ? {} : { issuer: first }),
    };
  }
  const known = Object.hasOwn(clients, issuer ?? "") ? clients[issuer ?? ""] : undefined;
  const isFor = port === null || String(port) === new URL(redirectUrl).port;
  return isFor ? (known as StoredOAuthClientInformation | undefined) : undefined;
}

function clientMetadata({ clientSecret, scope }: OAuthSettings, redirectUrl: string): OAuthClientMetadata {
  return {
    client_name: "pi-gateway",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_post",
    ...(scope === undefined ? {} : { scope }),
  };
}
