/**
 * The client of the gateway as a program of its own, for the conformance suite: `conformance client --command "bun test/mcp/conformance-client.ts"`. It
 * connects, lists tools and calls them with the code of the gateway. A person who agrees to everything answers questions and signs in.
 */
import { tmpdir } from "node:os";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { checkConfigText, type McpServerSettings } from "../../src/config/index.ts";
import type { ChatAnswer, ChatQuestion } from "../../src/contracts/channels/question.ts";
import type { ToolContext } from "../../src/contracts/tools/tool.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemIds } from "../../src/kit/ids.ts";
import { isObject } from "../../src/kit/json.ts";
import { silentLog } from "../../src/kit/log.ts";
import { systemResolver } from "../../src/kit/outside/public-address.ts";
import { mergedTools } from "../../src/mcp/client/catalog.ts";
import { readDefinitions } from "../../src/mcp/client/definitions.ts";
import { credentialsFile } from "../../src/mcp/client/oauth/credentials-file.ts";
import { withLogin } from "../../src/mcp/client/oauth/login.ts";
import { openAddress } from "../../src/mcp/client/open-connection.ts";
import { runCall } from "../../src/mcp/client/run-call.ts";

const NAME = "conformance";
const NEVER = new AbortController().signal;
const CALLER = { principal: "operator", sessionKey: "agent:default:main" } as unknown as ToolContext;
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Record<string, unknown>;
const url = process.argv.at(-1) ?? "";

function settingsOf(): McpServerSettings {
  const { client_id: clientId, client_secret: clientSecret } = context;
  const oauth = {
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
  };
  const text = JSON.stringify({ mcp: { servers: { [NAME]: { url, oauth, startMs: "90s" } } } });
  const { config, problems } = checkConfigText(text, () => undefined);
  const settings = config?.mcp.servers[NAME];
  if (!settings) throw new Error(JSON.stringify(problems));
  return settings;
}

/** Says yes, takes the first choice, and what is proposed. */
async function agree(question: ChatQuestion): Promise<ChatAnswer> {
  if (question.kind === "confirm") return { kind: "confirmed", yes: true };
  if (question.kind === "select") return { kind: "chosen", option: question.options[0] ?? "" };
  return { kind: "said", text: question.prefill ?? "1" };
}

/** Follows the service to the page that waits for the browser, as one that signs in without a question. */
async function signIn(to: URL): Promise<void> {
  let at = to.href;
  for (let hop = 0; hop < 5; hop++) {
    const response = await fetch(at, { redirect: "manual" });
    const location = response.headers.get("location");
    if (location === null) return;
    at = new URL(location, at).href;
  }
}

/** Something for every parameter, by its schema; what the scenario gives comes first. */
function argumentsFor(tool: string, schema: unknown): Record<string, unknown> {
  const calls = Array.isArray(context["toolCalls"]) ? (context["toolCalls"] as unknown[]) : [];
  const given = calls.find((one) => isObject(one) && one["name"] === tool);
  if (isObject(given) && isObject(given["arguments"])) return { ...given["arguments"] };
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  const sample = (one: unknown): unknown => {
    const type = isObject(one) ? one["type"] : "";
    return type === "number" || type === "integer"
      ? 2
      : type === "boolean"
        ? true
        : type === "object"
          ? {}
          : type === "array"
            ? []
            : "text";
  };
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, sample(one)]));
}

const home = mkdtempSync(join(tmpdir(), "conformance-client-"));
const settings = settingsOf();
const file = credentialsFile(home, NAME);
const deps = { clock: systemClock, ids: systemIds, log: silentLog, resolve: systemResolver, version: "0.1.0" };
const quiet = { legacy: false, listChanged: () => undefined, closed: () => undefined, heard: () => undefined };

try {
  await withLogin(
    { ...deps, file, show: signIn },
    settings,
    async (login) => {
      const connection = await openAddress(deps, { name: NAME, settings, login: () => login }, quiet, NEVER);
      try {
        const { tools } = readDefinitions(await connection.list(NEVER));
        for (const tool of mergedTools(null, tools)) {
          const params = argumentsFor(tool.definition.name, tool.definition.inputSchema);
          const callDeps = {
            ...deps,
            questions: { ask: agree },
            server: NAME,
            timeoutMs: () => 20_000,
            connection: async () => connection,
            isCurrent: () => true,
            late: () => undefined,
          };
          const result = await runCall(callDeps, tool, "call-1", params, NEVER, () => undefined, CALLER);
          console.error(`${scenario} ${tool.definition.name}: ${JSON.stringify(result).slice(0, 200)}`);
        }
      } finally {
        await connection.close();
      }
    },
    NEVER,
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}
process.exit(0);
