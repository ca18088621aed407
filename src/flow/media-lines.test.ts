/** Lines that send a file with the reply. */
import { describe, expect, test } from "bun:test";
import type { AgentId, MediaId, Principal, SessionKey } from "../contracts/ids.ts";
import type { OutgoingFiles, WantedFile } from "../contracts/media/files.ts";
import { attachMedia, splitMediaLines } from "./media-lines.ts";

const NEVER = new AbortController().signal;
const sender = {
  role: "owner" as const,
  agentId: "default" as AgentId,
  owner: "operator" as Principal,
  sessionKey: "s" as SessionKey,
};

function fakeFiles(): OutgoingFiles & { readonly asked: WantedFile[] } {
  const asked: WantedFile[] = [];
  return {
    asked,
    async take(wanted) {
      asked.push(wanted);
      if (wanted.path.startsWith("/")) return { kind: "refused", because: "Only files in the workspace can be sent." };
      const mediaId = `media_${asked.length}` as MediaId;
      return { kind: "taken", media: { mediaId, name: wanted.path, mimeType: "image/png", bytes: 1 } };
    },
  };
}
const reply = (text: string) => [{ part: 0, message: { text, kind: "reply" } }] as const;

describe("a line MEDIA:<path>", () => {
  test.each([
    ["Here:\nMEDIA:./a.png\nDone.", "Here:\nDone.", ["./a.png"]],
    ["MEDIA: a b.png ", "", ["a b.png"]],
    ["one\n\nMEDIA:a\n\ntwo", "one\n\ntwo", ["a"]],
    ['MEDIA:`a.png`\nMEDIA:"b.png"', "", ["a.png", "b.png"]],
    ["see MEDIA:a.png", "see MEDIA:a.png", []],
    [" MEDIA:a.png", " MEDIA:a.png", []],
    ["media:a.png", "media:a.png", []],
    ["MEDIA:", "MEDIA:", []],
    ["```\nMEDIA:a\n```\nMEDIA:b", "```\nMEDIA:a\n```", ["b"]],
    ["~~~\n```\nMEDIA:a\n~~~", "~~~\n```\nMEDIA:a\n~~~", []],
  ])("is taken out of %j", (text, left, paths) => {
    expect(splitMediaLines(text)).toEqual({ text: left, paths });
  });

  test("becomes an attachment of the reply, for the person and agent of the turn", async () => {
    const files = fakeFiles();
    expect(await attachMedia(files, reply("Look:\nMEDIA:a.png"), sender, NEVER)).toEqual([
      {
        part: 0,
        message: {
          text: "Look:",
          kind: "reply",
          attachments: [{ mediaId: "media_1" as MediaId, name: "a.png", mimeType: "image/png", bytes: 1 }],
        },
      },
    ]);
    expect(files.asked).toEqual([{ ...sender, path: "a.png" }]);
  });

  test("whose file is refused becomes a note that says why, also when nothing else was said", async () => {
    const [part] = await attachMedia(fakeFiles(), reply("MEDIA:/etc/passwd"), sender, NEVER);
    expect(part?.message).toEqual({
      text: "_(A file was not sent. Only files in the workspace can be sent.)_",
      kind: "reply",
    });
  });

  test("counts to ten", async () => {
    const files = fakeFiles();
    const lines = Array.from({ length: 12 }, (_, n) => `MEDIA:${n}.png`).join("\n");
    const [part] = await attachMedia(files, reply(lines), sender, NEVER);
    expect([files.asked.length, part?.message.text]).toEqual([
      10,
      "_(2 more files were not sent: one reply carries 10.)_",
    ]);
  });

  test("in a notice, or without files to send, is left alone", async () => {
    const notice = [{ part: 0, message: { text: "MEDIA:a", kind: "notice" } }] as const;
    expect(await attachMedia(fakeFiles(), notice, sender, NEVER)).toEqual(notice);
    expect(await attachMedia(undefined, reply("MEDIA:a"), sender, NEVER)).toEqual(reply("MEDIA:a"));
  });
});
