/**
 * Commands: messages that are meant for the gateway and not for the model, the same in every channel.
 * Decides what is a command and who may use it, and has the list of those that ship. It does not know when they run: flow does.
 */
export { builtinCommands, type BuiltinCommandDeps } from "./builtin.ts";
export { createLastStats } from "./last-stats.ts";
export { levelText, notFoundText } from "./model-replies.ts";
export { type CommandRegistry, createCommandRegistry, type TemplateNames } from "./registry.ts";
export { createSessionModels } from "./session-models.ts";
