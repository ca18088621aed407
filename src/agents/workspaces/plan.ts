/** What is to be done with a folder whose scope may have changed since the last start, and the sentences an owner reads about it. Pure. */
import type { Scope } from "./folders.ts";
import type { FolderRecord, Moving } from "./records.ts";

export interface FolderFacts {
  /** It is `workspace/` of the state directory, and no link to another place. */
  readonly isStandard: boolean;
  /** Something lies in it that is not in a person's folder. */
  readonly hasSharedFiles: boolean;
  /** There are folders of people in it. */
  readonly hasPeople: boolean;
}

type Plan =
  | { readonly kind: "leave" }
  /** Files are moved to the operator's own folder. */
  | { readonly kind: "move" }
  | { readonly kind: "resume"; readonly moving: Moving }
  /** The owner is told where files lie that nobody's agent reaches any more. */
  | { readonly kind: "tell_shared" }
  /** The owner is told where the files of people lie, which everybody's agent reaches now. */
  | { readonly kind: "tell_people" };

/** Nothing has changed since the last start, so `planFor` would leave the folder as it is, whatever is in it. */
export function isSettled(scope: Scope, record: FolderRecord | null): boolean {
  if (record?.moving) return false;
  return (scope === "person") === (record?.scope === "person");
}

/** `record`: null where no start has looked at the folder yet, as in the state directory of an earlier version. */
export function planFor(scope: Scope, record: FolderRecord | null, facts: FolderFacts): Plan {
  if (record?.moving) return { kind: "resume", moving: record.moving }; // also when the setting was changed back: a half is no answer
  if (isSettled(scope, record)) return { kind: "leave" };
  if (scope !== "person") return { kind: facts.hasPeople ? "tell_people" : "leave" };
  if (!facts.hasSharedFiles) return { kind: "leave" };
  // a folder that the owner has named is theirs, and other programs may know its files by their paths
  return { kind: facts.isStandard ? "move" : "tell_shared" };
}

export function movedText(folder: string, into: string, { backup, left }: { backup: string; left: number }): string {
  const rest = left === 0 ? "" : ` ${left} could not be moved and stay in ${folder}; the log says why.`;
  return `Each person has a workspace of their own now, so what was in ${folder} was moved to ${into}, the operator's own. Everybody else begins with an empty one.${rest} ${backup} is a backup from before.`;
}

export function stayText(folder: string, own: string): string {
  return `Each person has a workspace of their own below ${folder} now. What was in ${folder} before stays there, where no agent reaches it. Copy what is needed into a person's folder; the operator's is ${own}.`;
}

export function notMovedText(folder: string, because: string): string {
  return `Each person has a workspace of their own now, and what is in ${folder} could not be moved to the operator's: ${because} No agent reaches these files until then. Everything is where it was, and the next start tries again.`;
}

export function peopleText(people: string): string {
  return `The workspace is one folder for everybody again. What people had in workspaces of their own lies in ${people}, where every agent that works in this folder reaches it. Move away what is not for everybody.`;
}
