/**
 * The agents door: a pool of isolated pi processes. `startPool` runs them, `probePi` tries one for `doctor`, `findPi` and `chooseModel` decide
 * without effects where pi is and which model answers. No pi type leaves this module; session files and the agent folder are written only here.
 */
export { modelListAt, modelListOf, tryModelKey } from "./setup/model-list.ts";
export { checklistFile, readChecklist, writeChecklist } from "./setup/checklist.ts";
export { countOrphans, killOrphans } from "./process/orphans.ts";
export { findPi } from "./setup/find-pi.ts";
export { templateNames } from "./setup/resources.ts";
export { removeSession } from "./setup/damaged-session.ts";
export { removeSessionCopies } from "./talk/session-copies.ts";
export { createStoredSessions } from "./talk/stored-session.ts";
export { copySession } from "./talk/session-copy.ts";
export { createSkillRegistry } from "./setup/skill-registry.ts";
export { agentWorkspace, allWorkspaces, hasPersonalWorkspaces, workspaceFor } from "./setup/workspace.ts";
export { missingKey, providerFacts } from "./setup/provider-keys.ts";
export { DEMO_MODEL, chooseModel } from "./setup/model-choice.ts";
export { type AgentTokenMint, createAgentTokens } from "./tools/agent-tokens.ts";
export { describeAgent, describeAgents } from "./describe.ts";
export { agentProfiles, profileKey } from "./profile.ts";
export type { PoolOptions } from "./kinds.ts";
export { createOwnPrograms } from "./programs/own-program.ts";
export { createPrograms } from "./programs/programs.ts";
export { startPool } from "./pool.ts";
export { probePi } from "./probe.ts";
export { type ReplaceablePool, createReplaceablePool } from "./replaceable-pool.ts";
export { heldLogins } from "./setup/held-logins.ts";
export { scopeChanges, workspaceFolders } from "./workspaces/folders.ts";
export { preparePersonFolder } from "./workspaces/person-folder.ts";
export { settleWorkspaces } from "./workspaces/settle.ts";
