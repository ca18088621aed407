/**
 * Retention: everything that grows with time has a number of days after which it is deleted, in small steps in the background.
 * `startRetention` deletes, `storageReport` says how much there is of everything. Which rows may go is the store's decision.
 */
export { retentionKinds } from "./kinds.ts";
export { type Kind, startRetention } from "./retention.ts";
export { createKeptSizes } from "./kept-sizes.ts";
export { storageReport } from "./report.ts";
