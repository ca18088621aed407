/** MCP servers whose tools agents get. Each is a program of its own behind the wall, or an address. */
import { type Static, Type } from "typebox";
import {
  choice,
  closed,
  duration,
  flag,
  list,
  named,
  namedSecrets,
  programNetwork,
  secretText,
  text,
  webAddress,
  wholeNumber,
} from "./kinds.ts";

/** No `_`: what stands between the first two of a tool's name is the server, so that no two servers can have a tool of one name. */
const SERVER_NAME = "^[a-z][a-z0-9-]{0,31}$";
const VARIABLE_NAME = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";
const HEADER_NAME = "^[A-Za-z0-9-]{1,128}$";

const toolPattern = (meaning: string) => Type.String({ minLength: 1, maxLength: 128, description: meaning });

const grantedFolder = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 4096, description: "The folder." }),
    access: choice({ of: ["read", "write"], default: "read" }, "What may be done there."),
  },
  { additionalProperties: false },
);

const OAuth = Type.Object(
  {
    issuer: Type.Optional(
      webAddress({}, "The authorization server, where the server names none or it is on a private network."),
    ),
    clientId: Type.Optional(
      text({ minLength: 1, maxLength: 2_048 }, "The id of a client that you registered at the service."),
    ),
    clientSecret: secretText("Its secret, where the service gave one."),
    clientMetadataUrl: Type.Optional(
      text(
        { pattern: "^https://", expects: "an address that begins with https://", maxLength: 2_048 },
        "Where you published a client-id metadata document (docs/mcp.md). Used where the service takes one.",
      ),
    ),
    callbackPort: Type.Optional(
      wholeNumber(
        { minimum: 1_024, maximum: 65_535 },
        "The port of http://127.0.0.1:PORT/callback, where the service knows you by exactly that address. Default: any free one.",
      ),
    ),
    scope: Type.Optional(text({ maxLength: 2_048 }, "What to ask for. Default: what the server says it needs.")),
  },
  {
    additionalProperties: false,
    description: "How `pi-gw mcp login` signs in; {} where the service needs nothing else.",
  },
);

const Server = Type.Object(
  {
    enabled: flag({ default: true }, "Off: it is not started, and its tools are not there."),
    command: Type.Optional(
      text({ minLength: 1, maxLength: 4_096 }, "A program that speaks MCP over its input and output, such as npx."),
    ),
    args: list(Type.String({ maxLength: 32_768 }), 256, "Its arguments."),
    env: namedSecrets(
      VARIABLE_NAME,
      'Variables that it gets besides PATH, HOME, TMPDIR and the locale; "${NAME}" is taken from the environment of the gateway. Nothing else of that environment reaches it.',
    ),
    folders: list(
      grantedFolder,
      64,
      "Folders that it may use besides its own, to read, or to write as well. One that contains the state directory is refused.",
    ),
    network: programNetwork(
      'Which hosts it reaches: "none", "all" public hosts, or {"allow": [hosts]}. Each connection goes through a proxy of the gateway and is in the audit log. "machine": all that this machine reaches, unseen by the gateway, for programs that speak something else than HTTP. Without a wall (agent.sandbox off) every program has that.',
    ),
    url: Type.Optional(webAddress({}, "Where a server answers over streamable HTTP, in place of command.")),
    headers: namedSecrets(HEADER_NAME, "Headers that are sent to it, such as Authorization."),
    oauth: Type.Optional(OAuth),
    allow: Type.Array(toolPattern("A tool."), {
      default: ["*"],
      maxItems: 256,
      description: "Tools to take, by the server's own names; * stands for any text.",
    }),
    deny: list(toolPattern("A tool."), 256, "Tools to leave out, whatever allow says."),
    ownerOnly: flag(
      { default: true },
      "Only owners use its tools, because the server acts with the owner's accounts. Off: whoever the lists of tools allow.",
    ),
    timeoutMs: duration(
      { default: 60_000, minimum: 1_000 },
      "A call that takes longer is cancelled; the time in which a person is asked does not count. An hour at most.",
    ),
    startMs: duration({ default: 30_000, minimum: 1_000 }, "How long it may take to start and to list its tools."),
    idleMs: duration({ default: 300_000, minimum: 1_000 }, "It is stopped after this long without a call."),
  },
  { additionalProperties: false },
);

export type McpServerSettings = Static<typeof Server>;

export const McpSection = Type.Object(
  {
    servers: named(SERVER_NAME, Server, "MCP servers by name. Their tools are called mcp_NAME_TOOL."),
  },
  { ...closed, security: true, description: "MCP servers whose tools agents get." },
);
