/** The story of a message in two files: receive.ts takes it in, turn.ts answers it. Start reading there. */
export type { PromptSources } from "./prompt.ts";
export { createTurnContext } from "./turn-context.ts";
export { createMessageIntake } from "./intake/intake.ts";
export { createReactionWakes, type ReactionWakes } from "./intake/reaction-wakes.ts";
export { createGroupTalk, type GroupTalk } from "./intake/group-talk.ts";
export { createReceiver, type MessageReceiver, type ReceiverDeps } from "./receive.ts";
export { reportBackgroundEnd } from "./background-end.ts";
export { createDelegations } from "./delegation/delegations.ts";
export { createLiveTurns, type LiveTurnRecorder } from "./live-turns.ts";
export { createWaitingMessages } from "./waiting-messages.ts";
export { type ReplySteps, startTurns, type TurnAgents, type TurnsDeps, type TurnsOptions } from "./turn.ts";
export { createQuestions } from "./questions/questions.ts";
