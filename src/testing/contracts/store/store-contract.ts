/** What every store promises, whatever database is under it. Takes a way to open one (again) and knows nothing else about it. */
import { describe } from "bun:test";
import { conversationPromises, sessionChangePromises } from "./conversation-contract.ts";
import { inboxPromises } from "./inbox-contract.ts";
import { messagePromises, reactionPromises } from "../messages-contract.ts";
import { pairingPromises } from "./pairing-contract.ts";
import { queuePromises } from "./queue-contract.ts";
import { sessionPromises, transcriptPromises } from "./session-contract.ts";
import { smallTablePromises } from "./small-tables-contract.ts";
import { toolRecordPromises } from "./tool-call-contract.ts";
import { turnPromises, toolCallPromises, outboxPromises } from "./turn-contract.ts";
import type { StoreWorld } from "./store-world.ts";

export function storeContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    inboxPromises(open);
    turnPromises(open);
    queuePromises(open);
    toolCallPromises(open);
    toolRecordPromises(open);
    outboxPromises(open);
    sessionPromises(open);
    transcriptPromises(open);
    smallTablePromises(open);
    conversationPromises(open);
    sessionChangePromises(open);
    pairingPromises(open);
    messagePromises(open);
    reactionPromises(open);
  });
}
