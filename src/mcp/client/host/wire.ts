/** What the gateway and the MCP host say to each other about one connection to a server. Both are ours and of one build, so nothing is checked twice. */
import { GatewayError, isGatewayError, type ErrorCode } from "../../../contracts/errors.ts";
import type { McpServerSettings } from "../../../config/index.ts";
import { secret } from "../../../kit/secret.ts";
import type { Connected, ServerResult } from "../connection.ts";

/** The first line of a connection. Secrets are written out: the connection is a pipe between two of our processes. */
export interface HostOrder {
  readonly name: string;
  readonly home: string;
  readonly version: string;
  readonly legacy: boolean;
  /** Names the connection when the host asks for its program. */
  readonly key: string;
  readonly settings: PlainSettings;
}

type PlainSettings = Pick<McpServerSettings, "command" | "url" | "startMs"> & {
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: Omit<NonNullable<McpServerSettings["oauth"]>, "clientSecret"> & { readonly clientSecret?: string };
};

interface PlainError {
  readonly message: string;
  /** Of an error of the catalogue, with its sentence. */
  readonly code?: ErrorCode;
}

export type HostCall =
  | { readonly method: "list" }
  | { readonly method: "call"; readonly tool: string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly method: "read"; readonly uri: string };

export type ToHost =
  | { readonly kind: "order"; readonly order: HostOrder }
  | { readonly kind: "ask"; readonly id: number; readonly call: HostCall }
  | { readonly kind: "cancel"; readonly id: number }
  | { readonly kind: "answer"; readonly question: number; readonly value: unknown }
  | { readonly kind: "close" };

export type FromHost =
  | { readonly kind: "opened"; readonly about: Pick<Connected, "era" | "protocol" | "server" | "hasResources"> }
  | { readonly kind: "failed"; readonly error: PlainError }
  | { readonly kind: "result"; readonly id: number; readonly value: readonly unknown[] | ServerResult }
  | { readonly kind: "error"; readonly id: number; readonly error: PlainError }
  | { readonly kind: "progress"; readonly id: number; readonly text: string }
  | { readonly kind: "question"; readonly id: number; readonly question: number; readonly request: unknown }
  | { readonly kind: "changed" | "heard" }
  | { readonly kind: "closed"; readonly why: string };

export function plainSettings({ command, url, startMs, headers, oauth }: McpServerSettings): PlainSettings {
  const { clientSecret, ...rest } = oauth ?? {};
  const plain = { ...rest, ...(clientSecret === undefined ? {} : { clientSecret: clientSecret.reveal() }) };
  return {
    startMs,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])),
    ...(command === undefined ? {} : { command }),
    ...(url === undefined ? {} : { url }),
    ...(oauth === undefined ? {} : { oauth: plain }),
  };
}

/** As far as a connection needs them: the gateway itself starts the program. */
export function settingsOf({ headers, oauth, ...rest }: PlainSettings): McpServerSettings {
  const { clientSecret, ...plain } = oauth ?? {};
  const settings = {
    ...rest,
    args: [],
    env: {},
    folders: [],
    network: "none",
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, secret(value)])),
  };
  const login =
    oauth === undefined
      ? {}
      : { oauth: clientSecret === undefined ? plain : { ...plain, clientSecret: secret(clientSecret) } };
  return Object.assign(settings, login) as unknown as McpServerSettings;
}

export function plainError(error: unknown): PlainError {
  if (isGatewayError(error)) return { message: error.say, code: error.code };
  return { message: error instanceof Error && error.message !== "" ? error.message : "it failed without saying why" };
}

export function errorOf({ message, code }: PlainError): Error {
  return code === undefined ? new Error(message) : new GatewayError(code, message, { say: message });
}
