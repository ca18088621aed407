/**
 * Tools: the registry, and the gate that is the only caller of `execute`: known → valid → audit → run within limits → cap → audit.
 * It does not know how agents are spawned or which channel asks.
 */
export { createToolGate, type ToolGateDeps } from "./gate.ts";
export { createToolRegistry, type ToolRegistry } from "./registry.ts";
export { idForProvider, type ProviderSchema, schemaForProvider } from "./schema/providers/provider-profiles.ts";
export { nameTools } from "./schema/tool-names.ts";
export { createReminder, type ReminderDeps } from "./builtin/automation/create-reminder.ts";
export { cron, type CronToolDeps } from "./builtin/automation/cron.ts";
export { message, type MessageToolDeps } from "./builtin/chat/message.ts";
export { sendMedia, type SendMediaDeps } from "./builtin/chat/send-media.ts";
export { sendMessage } from "./builtin/chat/send-message.ts";
export { gatewayTool, type GatewayToolDeps } from "./builtin/gateway-tool.ts";
export { saveNote, searchNotes, type NoteToolDeps } from "./builtin/notes/notes.ts";
export { addTask, completeTask, listTasks, updateTask, type TaskToolDeps } from "./builtin/notes/tasks.ts";
export { sessionStatus, type SessionFacts, type SessionStatusDeps } from "./builtin/session-status.ts";
export { webSearch, type WebSearchDeps, type WebSearchSettings } from "./builtin/web-search/web-search.ts";
