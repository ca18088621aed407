/** Rules of delivery that need no outbox: what is kept of a receipt. */
import { expect, test } from "bun:test";
import type { Channel } from "../contracts/channel.ts";
import type { PendingPart } from "../contracts/delivery.ts";
import { afterSend } from "./rules.ts";

const RISKY = { id: "app", repeat: "risky" } as unknown as Channel;
const PART = { id: "turn_1:0", state: "sending", lost: 0, doubt: false, firstTriedAt: 0 } as unknown as PendingPart;

test.each([
  ["that arrived", "sent", PART, {}],
  ["whose first answer was lost", "ambiguous", { ...PART, lost: 1 }, {}],
  ["with a message in doubt", "ambiguous", { ...PART, doubt: true }, {}],
  ["whose preview is in doubt", "ambiguous", PART, { doubt: "its preview" }],
] as const)(
  "a part %s keeps the ids of all its messages, so that each can be deleted",
  (_which, state, part, doubt) => {
    const receipt = { providerId: "21", providerIds: ["21", "22", "23"], ...doubt };
    const end = { state, providerId: "21", providerIds: ["21", "22", "23"] };
    expect(afterSend(part, RISKY, receipt, 1)).toMatchObject(end);
  },
);
