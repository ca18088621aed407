/** Commands: what a person may tell the gateway itself, the same in every channel. The model never sees one. */
import type { AgentSessionStats, Compaction } from "./agent.ts";
import type { InboundMessage } from "./chat.ts";
import type { AgentId, Role, SessionKey, TurnId } from "./ids.ts";
import type { WorkKind } from "./queue.ts";

export interface Command {
  readonly name: string; // lower case letters, without the slash
  readonly help: string; // one line, for people
  readonly usage?: string; // its arguments, for people: "[words]"
  readonly roles: readonly Role[];
  /** It ends the running turn of its session the moment it is accepted, and is next in its lane. */
  readonly stopsTurn?: boolean;
  /** It is run with the session open in an agent (`context.agent`), and waits for one like a message. */
  readonly needsAgent?: boolean;
  /** Returns what the chat shows; an empty text shows nothing. After a crash it runs again: twice has to be the same as once. */
  run(args: string, context: CommandContext, signal: AbortSignal): Promise<string>;
  /** Told about whoever asked for it without the right to, and was answered with `said`. */
  refused?(args: string, context: CommandContext, said: string): void;
}

/** Who asked, and where. */
export interface CommandContext {
  readonly sessionKey: SessionKey;
  /** Where the agent keeps this conversation now. */
  readonly sessionFile: string;
  readonly agentId: AgentId;
  readonly turnId: TurnId;
  readonly role: Role;
  readonly message: InboundMessage;
  /** Only for a command that needs one. What it asks of a model is counted. */
  readonly agent?: CommandAgent;
}

interface CommandAgent {
  compact(instructions: string): Promise<Compaction>;
}

export interface Commands {
  /** Null: the message names no command. */
  find(message: InboundMessage): FoundCommand | null;
  /**
   * As `find`; a message that only looks like a command is found as well, as one that answers with the nearest name. Null: the message is
   * for the model of this agent, or calls one of its prompt templates.
   */
  findFor(message: InboundMessage, agentId: AgentId): FoundCommand | null;
  /** What the model is told when the message is for it: the words, without the slash that kept them from being a command. */
  plain(message: InboundMessage): string;
  workKind(asked: { readonly message: InboundMessage; readonly role: Role; readonly agentId: AgentId }): WorkKind;
  /** What a person with this role can use, for menus. */
  list(role: Role): readonly Pick<Command, "name" | "help" | "usage">[];
  /** Runs it, or says who may. */
  answer(found: FoundCommand, context: CommandContext, signal: AbortSignal): Promise<string>;
}

export interface FoundCommand {
  readonly command: Command;
  readonly args: string;
}

/** What agents last said about their conversations; forgotten with the process. */
export interface LastStats {
  /** Worth asking again: nothing is known about it, or what is known is older than a minute. Asking costs a trip to the agent. */
  stale(sessionFile: string, now: number): boolean;
  note(sessionFile: string, stats: AgentSessionStats, now: number): void;
  /** The agent is being asked; `answer` never rejects. */
  expect(sessionFile: string, answer: Promise<void>): void;
  /** Resolves when the agent is not being asked, or has answered. */
  settled(sessionFile: string): Promise<void>;
  of(sessionFile: string): AgentSessionStats | null;
}
