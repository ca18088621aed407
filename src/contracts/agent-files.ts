/** Files on their way to an agent, and from one. What an agent names is a path; what is sent is a copy in the media store, made after every check. */
import type { MediaKind, MediaRef } from "./chat.ts";
import type { AgentId, Principal, Role, SessionKey } from "./ids.ts";

export interface OutgoingFiles {
  /** Opens the file once, checks what was opened, and copies it from there. Nothing else opens a path that an agent names. */
  take(wanted: WantedFile, signal: AbortSignal): Promise<TakenFile>;
}

interface WantedFile {
  /** Relative to the agent's workspace, or absolute below one of the roots. */
  readonly path: string;
  readonly agentId: AgentId;
  /** Of whom the agent works for: a role may have a workspace of its own. */
  readonly role: Role;
  /** Who may see it. */
  readonly owner: Principal;
  /** The conversation it is sent in: some roles may have only what was made or received there. */
  readonly sessionKey: SessionKey;
  /** How it is to be shown; left out, its content decides. */
  readonly as?: MediaKind;
}

type TakenFile =
  | { readonly kind: "taken"; readonly media: MediaRef }
  /** One sentence for a model or a person. Names no path but the one that was asked for. */
  | { readonly kind: "refused"; readonly because: string };

/** Who opens a file: the agent, and for whom it works. */
interface AgentReader {
  readonly agentId: AgentId;
  readonly role: Role;
  readonly principal: Principal;
}

/** What somebody attached, for agents that can open files. */
export interface AttachedFiles {
  /** The path of a copy, from the agent's workspace on. Null: this agent cannot open it. */
  place(media: MediaRef, reader: AgentReader): Promise<string | null>;
}
