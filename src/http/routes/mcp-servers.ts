/** MCP servers whose tools agents get: how they are, a try of one with settings that are saved or not, and an owner's word about tools that have changed. */
import { GatewayError } from "../../contracts/errors.ts";
import type { McpServerStatus } from "../../contracts/mcp.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { OPERATOR_GET, OPERATOR_POST, param, type Route, SMALL_JSON, jsonOf } from "../route.ts";
import { settingEdits } from "../setting-edits.ts";
import type { HttpDeps } from "../types.ts";

export function mcpServerRoutes({ operations }: Pick<HttpDeps, "operations">): readonly Route[] {
  const { mcpServers } = operations;
  const Changes = bodyOf<"POST /api/mcp/:name/try">()(checkedObject({ edits: settingEdits() }));
  return [
    {
      ...OPERATOR_GET,
      path: "/api/mcp",
      scope: READ,
      handle: () => jsonOf<"GET /api/mcp">({ items: mcpServers.list() }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/mcp/:name/test",
      scope: ADMIN,
      handle: async (call) =>
        jsonOf<"POST /api/mcp/:name/test">(
          found(param(call, "name"), await mcpServers.test(param(call, "name"), call.signal)),
        ),
    },
    {
      ...OPERATOR_POST,
      path: "/api/mcp/:name/try",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const { edits } = await Changes.parse(call.json);
        return jsonOf<"POST /api/mcp/:name/try">(await mcpServers.try(param(call, "name"), edits, call.signal));
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/mcp/:name/accept",
      scope: ADMIN,
      handle: (call) =>
        jsonOf<"POST /api/mcp/:name/accept">(found(param(call, "name"), mcpServers.accept(param(call, "name")))),
    },
  ];
}

function found(name: string, status: McpServerStatus | null): McpServerStatus {
  if (status) return status;
  const say = `There is no MCP server called ${name} in the settings, or it is off.`;
  throw new GatewayError("not_found", say, { say });
}
