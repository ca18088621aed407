/**
 * Tools: the registry, and the gate that is the only caller of `execute`: known → valid → audit → run within limits → cap → audit.
 * It does not know how agents are spawned or which channel asks.
 */
export { createToolGate, type ToolGateDeps } from "./gate.ts";
export { createToolRegistry, type ToolRegistry } from "./registry.ts";
export { idForProvider, type ProviderSchema, schemaForProvider } from "./schema/providers/provider-profiles.ts";
export { nameTools } from "./schema/tool-names.ts";
export { sessionStatus } from "./builtin/session-status.ts";
