/**
 * Other gateways on the same database. A gateway asks and tells by letters (`other-nodes.ts`); a message goes to the one that has its session
 * (`session-homes.ts`, `shared-queue.ts`), and what happens at one is seen at all (`event-relay.ts`, `heard-work.ts`, `shared-asking.ts`).
 */
export { startBalance } from "./balance.ts";
export { createDrain, type Drain } from "./drain.ts";
export { joinEvents, relayEvents } from "./event-relay.ts";
export { followOtherNodes, type HeardWork } from "./heard-work.ts";
export { createNodeVersions, differencesOf, type NodeVersionWatch } from "./node-versions.ts";
export { createOtherNodes } from "./other-nodes.ts";
export { createSessionHomes, type SessionHomes } from "./session-homes.ts";
export { shareApprovals, shareQuestions } from "./shared-asking.ts";
export { createSharedCounts, type SharedCounts } from "./shared-counts.ts";
export { sharePlatforms } from "./shared-platforms.ts";
export { createSharedQueue } from "./shared-queue.ts";
export { beginWhenHeld } from "./one-at-a-time.ts";
