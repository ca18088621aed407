/** Heartbeats for people who look: which agents have one, when, and the checklist each goes through. Types only. */

export interface HeartbeatCard {
  readonly agentId: string;
  readonly enabled: boolean;
  readonly everyMs: number;
  readonly activeHours: { readonly start?: string; readonly end?: string; readonly timezone?: string };
  /** HEARTBEAT.md in the folder of the agent; null: there is none. */
  readonly checklist: string | null;
  /** Where that file is, or would be; null: the agent has no folder of its own, and so no checklist. */
  readonly file: string | null;
}

type ChecklistAnswer =
  | { readonly kind: "written" }
  /** Somebody else, perhaps the agent, has changed it meanwhile. */
  | { readonly kind: "changed" }
  | { readonly kind: "refused"; readonly say: string };

export interface Heartbeats {
  list(): Promise<readonly HeartbeatCard[]>;
  /** `before`: the checklist as it was seen; null: there was none. */
  write(agentId: string, text: string, before: string | null): Promise<ChecklistAnswer>;
}
