/** The story of a message: receive.ts takes it in, turn.ts takes a turn and ends it, attempt.ts answers. Start reading there. */
export type { PromptSources } from "./prompt/prompt.ts";
export { createTurnContext } from "./prompt/turn-context.ts";
export { createMessageIntake } from "./intake/intake.ts";
export { createReactionWakes, type ReactionWakes } from "./intake/reaction-wakes.ts";
export { createGroupTalk, type GroupTalk } from "./intake/group-talk.ts";
export { createSessionPreparer } from "./session-preparer.ts";
export { createReceiver, type MessageReceiver, type ReceiverDeps } from "./receive.ts";
export { reportBackgroundEnd } from "./background-end.ts";
export { originOf } from "./billing.ts";
export { createDelegations } from "./delegation/delegations.ts";
export { createLiveTurns, type LiveTurnRecorder } from "./live-turns.ts";
export { createSessionBrancher } from "./session-branches.ts";
export { createSessionRemover } from "./session-removal.ts";
export { createWaitingMessages } from "./waiting-messages.ts";
export { startTurns } from "./turn.ts";
export type { ReplySteps, TurnAgents, TurnsDeps, TurnsOptions } from "./turn-world.ts";
export { createQuestions } from "./questions/questions.ts";
