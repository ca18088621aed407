import { describe, expect, test } from "bun:test";
import type { TranscriptItem } from "../../src/contracts/chat.ts";
import { changeSend, openSends, readSends, type Send, visibleSends } from "./sends.ts";

const S = "agent:default:webchat:dm:1";

function send(clientId: string, more: Partial<Send> = {}): Send {
  return { clientId, session: S, text: "hi", attachments: [], at: 1_000, accepted: null, refused: null, ...more };
}

function said(inboxId: string, text = "hi", at = 1_010): TranscriptItem {
  return { id: `u-${inboxId}`, role: "user", text, at, turnId: null, inboxId } as unknown as TranscriptItem;
}

const shown = (sends: readonly Send[], items: readonly TranscriptItem[]) =>
  visibleSends(sends, S, items).map((one) => one.clientId);

describe("a message on its way", () => {
  test("is shown until it arrives among the conversation's own", () => {
    expect(shown([send("a", { accepted: "in1" })], [])).toEqual(["a"]);
    expect(shown([send("a", { accepted: "in1" })], [said("in1")])).toEqual([]);
  });

  test("is not shown twice when the event is faster than the answer", () => {
    expect(shown([send("a")], [said("in1")])).toEqual([]);
  });

  test("is not mistaken for the same words said long ago", () => {
    expect(shown([send("a", { at: 60_000 })], [said("in1")])).toEqual(["a"]);
  });

  test("said twice is shown twice, whichever was answered first", () => {
    expect(shown([send("a"), send("b", { accepted: "in2" })], [said("in2")])).toEqual(["a"]);
    expect(shown([send("a"), send("b")], [said("in1")])).toEqual(["b"]);
  });

  test("that was refused stays, with its words and the reason", () => {
    const refused = changeSend([send("a")], "a", { refused: "Too many messages are waiting." });
    expect(shown(refused, [said("in1")])).toEqual(["a"]);
  });

  test("of another conversation is not shown here and not forgotten", () => {
    const other = send("a", { session: "agent:default:api:dm:x", accepted: "in1" });
    expect(shown([other], [])).toEqual([]);
    expect(openSends([other], S, [said("in1")])).toEqual([other]);
  });
});

describe("after a reload", () => {
  test("unanswered messages are still there", () => {
    expect(readSends(JSON.stringify([send("a")]))).toEqual([send("a")]);
  });

  test("what is not a message is left out", () => {
    expect([readSends("{"), readSends("null"), readSends('[1,{"clientId":"x"}]'), readSends(null)]).toEqual([
      [],
      [],
      [],
      [],
    ]);
  });
});
