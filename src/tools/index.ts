/**
 * Tools: the registry, who may use what, and the gate that is the only caller of `execute`. The stages of a call are listed in
 * stages/stages.ts; how it runs is in run/; what is kept about it is in audit/. The owner is asked in approvals.ts;
 * what owners have allowed for always is in rules/. It does
 * not know how agents are spawned, who is an owner, or which channel asks.
 */
export { createApprovals } from "./approvals.ts";
export { createApprovalRules } from "./rules/approval-rules.ts";
export { createToolGate } from "./gate.ts";
export type { BackgroundEnd, ToolGateDeps } from "./parts.ts";
export { createPermissionMatrix } from "./permissions.ts";
export { createToolLister } from "./listing.ts";
export { type ToolPolicy } from "./policy.ts";
export { originOf } from "./origin.ts";
export { createToolRegistry, type LiveToolRegistry } from "./registry.ts";
export { createToolFinder, type ToolFinder } from "./search/find.ts";
export { createSessionTools, type SessionTools } from "./search/session-tools.ts";
export { createProviderSchemas, SCHEMA_FAMILIES, type SchemaFamily } from "./schema/providers/provider-profiles.ts";
export { usableTools, whyNotUsable } from "./usable.ts";
export { createReminder, type ReminderDeps } from "./builtin/automation/create-reminder.ts";
export { cron, type CronToolDeps } from "./builtin/automation/cron.ts";
export { message, type MessageToolDeps } from "./builtin/chat/message.ts";
export { sendMedia, type SendMediaDeps } from "./builtin/chat/send-media.ts";
export { sendMessage, type SendMessageDeps } from "./builtin/chat/send-message.ts";
export { askAgent, type AskAgentDeps } from "./builtin/ask-agent.ts";
export { delegateToAgent, type DelegateToolDeps } from "./builtin/delegate.ts";
export { gatewayTool, type GatewayToolDeps } from "./builtin/gateway-tool.ts";
export { saveNote, searchNotes, type NoteToolDeps } from "./builtin/notes/notes.ts";
export { addTask, completeTask, listTasks, updateTask, type TaskToolDeps } from "./builtin/notes/tasks.ts";
export { notesOfPeople, tasksOfPeople } from "./builtin/notes/linked-people.ts";
export { sessionStatus, type SessionReport, type SessionStatusDeps } from "./builtin/session-status.ts";
export { toolSearch, type ToolSearchDeps } from "./builtin/tool-search.ts";
export { webFetch, type WebFetchDeps } from "./builtin/web-fetch/web-fetch.ts";
export { webSearch, type WebSearchDeps } from "./builtin/web-search/web-search.ts";
