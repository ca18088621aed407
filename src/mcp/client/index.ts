/** The door of the MCP client: servers of the settings, whose tools become tools of the gateway. It does not judge who may call them; the gate does. */
export { createHostedConnections } from "./host/hosted-connections.ts";
export { createOwnConnections } from "./open-connection.ts";
export { forgetServer, signIn } from "./sign-in.ts";
export { createMcpServers, type McpServers } from "./servers.ts";
