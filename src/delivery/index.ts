/** Delivery: from what an agent said to what a chat shows. It does not know which platform it is. */
export { startOutbox } from "./outbox.ts";
export { createDeltaStream, type DeltaStream } from "./delta-stream.ts";
