/** /mcp: the streamable HTTP transport of the Model Context Protocol. What a key may do there, each method asks its scopes. */
import type { McpAsking } from "../../contracts/mcp-door.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { parseJson } from "../../kit/json.ts";
import type { Auth } from "../access/auth.ts";
import { ANY_SCOPE, maySee, reachOf } from "../access/key-reach.ts";
import { JSON_MAX_DEPTH } from "../body.ts";
import { endingWith } from "../foreign-stream.ts";
import { type Call, identityOf, NO_BODY, OPERATOR_GET, OPERATOR_POST, type Route } from "../route.ts";
import { noteRefused } from "../tools/tool-call.ts";
import { callerOf } from "../tools/tool-caller.ts";
import type { HttpDeps } from "../types.ts";

const PATH = "/mcp";
/** As the library takes them; parameters of a tool are 256 KiB at most. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

type McpAuth = Pick<Auth, "ending" | "count">;

export function mcpRoutes({ tools }: Pick<HttpDeps, "tools">, auth: McpAuth): readonly Route[] {
  const handle = async (call: Call): Promise<Response> => {
    for (let more = messagesIn(call.bytes) - 1; more > 0; more--) auth.count(identityOf(call));
    call.server.timeout(call.request, 0); // a call, and a stream of changes, may be silent for longer than an idle connection lives
    return endingWith(await tools.mcp.answer(requestOf(call), askingOf(call, auth)), call.signal);
  };
  return [
    {
      ...OPERATOR_POST,
      path: PATH,
      scope: ANY_SCOPE,
      body: { kind: "bytes", maxBytes: MAX_BODY_BYTES },
      handle,
      refused: (error, asking) =>
        noteRefused({ tools }, { error, context: asking && callerOf(asking.identity), path: "mcp" }),
    },
    // a session of an older client: its stream, and its end
    { ...OPERATOR_GET, path: PATH, scope: ANY_SCOPE, handle },
    { method: "DELETE", auth: "operator", path: PATH, scope: ANY_SCOPE, body: NO_BODY, handle },
  ];
}

/** With the body that was read within limits, and a signal that also ends with the credential and with the server. */
function requestOf({ request, bytes, signal }: Call): Request {
  const { url, method, headers } = request;
  const body = method === "POST" ? { body: bytes as Uint8Array<ArrayBuffer> } : {};
  return new Request(url, { method, headers, signal, ...body });
}

/** How many a client of an older revision sends in one request. What is no JSON the library refuses, in the words of the protocol. */
function messagesIn(bytes: Uint8Array): number {
  const limits = { maxChars: MAX_BODY_BYTES, maxDepth: JSON_MAX_DEPTH };
  const parsed = parseJson(Buffer.from(bytes).toString("utf8"), limits);
  if (parsed.ok) return Array.isArray(parsed.value) ? parsed.value.length : 1;
  if (parsed.because !== "too_deep") return 1;
  const say = `The JSON is nested deeper than ${JSON_MAX_DEPTH} levels.`;
  throw new GatewayError("bad_request", "too_deep", { say });
}

function askingOf(call: Call, auth: McpAuth): McpAsking {
  const identity = identityOf(call);
  const caller = callerOf(identity);
  return {
    caller: { ...caller, origin: { ...caller.origin, channel: "mcp" } },
    key: identity.key,
    ending: auth.ending(identity),
    sees: (sessionKey) => maySee(identity, sessionKey),
    reach: reachOf(identity),
  };
}
