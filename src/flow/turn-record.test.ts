/** The record of an ended turn has everything that the transcript and the usage ledger are made of. */
import { expect, test } from "bun:test";
import type { MediaId, Principal } from "../contracts/ids.ts";
import type { Batch } from "../contracts/queue.ts";
import { inbound } from "../testing/messages.ts";
import type { EndWithoutSize } from "./ending/turn-ending.ts";
import { recordOf } from "./turn-record.ts";

test("an ended turn is recorded with who said what and when, the names of files, the reply and its cost", () => {
  const ann = { principal: "webchat:user:ann" as Principal, name: "Ann" };
  const file = { mediaId: "m1" as MediaId, name: "a.png", mimeType: "image/png", bytes: 1 };
  const messages = [
    inbound("look", { sender: ann, attachments: [file], receivedAt: 7 }),
    inbound("and?", { sender: ann, receivedAt: 8 }),
  ];
  const batch = {
    sessionKey: "agent:default:webchat:dm:ann",
    turnId: "turn_1",
    role: "member",
    entries: messages.map((message) => ({ message })),
  } as unknown as Batch;
  const reply = { kind: "reply", text: "a cat" } as const;
  const usage = { inputTokens: 5, outputTokens: 2, costUsd: 0.25 };
  const end = { outcome: "done", usage, model: "fake/one", reply: [{ part: 0, message: reply }] };
  expect(recordOf(batch, end as unknown as EndWithoutSize, 42)).toEqual({
    sessionKey: batch.sessionKey,
    turnId: batch.turnId,
    role: "member",
    said: [
      { at: 7, principal: ann.principal, name: "Ann", text: "look", attachments: ["a.png"] },
      { at: 8, principal: ann.principal, name: "Ann", text: "and?", attachments: [] },
    ],
    reply: [reply],
    outcome: "done",
    ms: 42,
    usage,
    model: "fake/one",
  });
});
