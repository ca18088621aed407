/**
 * Tools: the registry, and the gate that is the only caller of `execute`: known → valid → audit → run within limits → cap → audit.
 * It does not know how agents are spawned or which channel asks.
 */
export { createToolGate, type ToolGateDeps } from "./gate.ts";
export { createToolRegistry, type ToolShelf } from "./registry.ts";
export { sessionStatus } from "./builtin/session-status.ts";
