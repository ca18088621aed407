/**
 * Durable work queue: one lane per session, one turn per lane at a time, highest priority first, oldest first among equals.
 * Stores before it says yes; refuses instead of dropping. A session with no work costs nothing.
 */
export type { QueueSettings } from "./modes.ts";
export { createQueue, type QueueDeps } from "./queue.ts";
