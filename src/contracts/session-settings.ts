/** What can be chosen for one session: its model, how much it thinks, and how messages that arrive during a turn are treated. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/**
 * What happens to a message that arrives while its session is being answered. `collect`: it waits, and all that waits becomes one turn.
 * `steer`: it is steered into the running turn and answered with it. `followup`: each gets a turn of its own. `interrupt`: the running turn is stopped, and the newest message is next. An idle session starts at once.
 */
export type QueueMode = "collect" | "steer" | "followup" | "interrupt";
export const QUEUE_MODES = ["collect", "steer", "followup", "interrupt"] as const satisfies readonly QueueMode[];

/** What was chosen for one session; null where its agent's settings hold. */
export interface SessionSettings {
  readonly model: string | null;
  readonly thinking: ThinkingLevel | null;
}
