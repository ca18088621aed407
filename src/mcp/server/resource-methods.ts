/** `resources/*`: lists, reading, and which resources an older client wants to hear of. */
import { ProtocolErrorCode, ProtocolError, type Server } from "@modelcontextprotocol/server";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import { withPlainFailures } from "./failures.ts";
import { pageOf } from "./paging.ts";
import { listResources, readResource, type ResourceDeps, resourceTemplates } from "./resources.ts";

/** Resources that one client of an older revision has subscribed to. */
export type Subscribed = Set<string>;

const MAX_SUBSCRIBED = 200;
const MAX_ADDRESS_CHARS = 2_048;

export function serveResources(deps: ResourceDeps, server: Server, asking: McpAsking, subscribed: Subscribed): void {
  server.setRequestHandler("resources/list", async ({ params }) => {
    const listed = await withPlainFailures(deps.mask, () => listResources(deps, asking));
    const { items, next } = pageOf(listed, params?.cursor);
    return { resources: [...items], ...(next === undefined ? {} : { nextCursor: next }) };
  });
  server.setRequestHandler("resources/templates/list", ({ params }) => {
    const { items, next } = pageOf(resourceTemplates(deps), params?.cursor);
    const resourceTemplatesShown = items.map(({ uri, ...about }) => ({ ...about, uriTemplate: uri }));
    return { resourceTemplates: resourceTemplatesShown, ...(next === undefined ? {} : { nextCursor: next }) };
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq }) => {
    const content = await withPlainFailures(deps.mask, () => readResource(deps, asking, uri, mcpReq.signal));
    if (!content) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such resource.", { uri });
    const { text, blob, ...about } = content;
    return { contents: [text === undefined ? { ...about, blob: blob ?? "" } : { ...about, text }] };
  });
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    if (uri.length > MAX_ADDRESS_CHARS)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `An address has at most ${MAX_ADDRESS_CHARS} characters.`,
      );
    if (subscribed.size >= MAX_SUBSCRIBED)
      throw new ProtocolError(ProtocolErrorCode.InternalError, "This client has subscribed to too many resources.");
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
}
