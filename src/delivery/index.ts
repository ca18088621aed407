/** Delivery: from what an agent said to what a chat shows. It does not know which platform it is. */
export { createChatMessages } from "./chat-messages.ts";
export { createPoster } from "./poster.ts";
export type { OtherSenders, OutboxDeps } from "./deliver-part.ts";
export { startOutbox } from "./outbox.ts";
export { createDeltaStream } from "./delta-stream.ts";
export { createOwnerNotices } from "./owner-notices.ts";
export { createReplyRetries } from "./retry-reply.ts";
export { tellOwnerOfUndelivered } from "./undelivered.ts";
