/** A form with files as bytes: whatever a name, a type or a content holds, it stays one part. */
import { expect, test } from "bun:test";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { multipart } from "./multipart.ts";

const text = (body: Uint8Array): string => Buffer.from(body).toString("utf8");

test("a form can be read back as it was written", async () => {
  const data = new TextEncoder().encode("--boundary\r\ncontent");
  const { headers, body } = multipart(createSeqIds(), [
    { name: "model", value: "whisper" },
    { name: "file", fileName: "voice.ogg", mimeType: "audio/ogg", data },
  ]);
  const form = await new Response(body, { headers }).formData();
  const file = form.get("file") as File;
  expect([form.get("model"), file.name, file.type, await file.text()]).toEqual([
    ...["whisper", "voice.ogg", "audio/ogg", "--boundary\r\ncontent"],
  ]);
});

test("a form is written byte by byte as RFC 7578 has it: boundary, head, empty line, content", () => {
  const data = new TextEncoder().encode("abc");
  const { headers, body } = multipart(createSeqIds(), [
    { name: "model", value: "whisper" },
    { name: "file", fileName: "voice.ogg", mimeType: "audio/ogg", data },
  ]);
  const [, boundary = ""] = headers["content-type"].split("boundary=");
  expect(boundary.length).toBeGreaterThan(8);
  expect(text(body).split("\r\n")).toEqual([
    ...[`--${boundary}`, 'content-disposition: form-data; name="model"', "", "whisper"],
    ...[`--${boundary}`, 'content-disposition: form-data; name="file"; filename="voice.ogg"'],
    ...["content-type: audio/ogg", "", "abc", `--${boundary}--`, ""],
  ]);
});

test("a quotation mark in a name adds no parameter to its part", () => {
  const evil = 'a.png"; name="model';
  const { body } = multipart(createSeqIds(), [{ name: evil, fileName: evil, mimeType: "a/b", data: new Uint8Array() }]);
  const escaped = "a.png%22; name=%22model";
  expect(text(body)).toContain(`content-disposition: form-data; name="${escaped}"; filename="${escaped}"\r\n`);
});

test.each(["\r\n", "\n", "\r"])("a line break (%j) in a name or a type adds no header", (lineBreak) => {
  const evil = `a"${lineBreak}x-evil: 1`;
  const data = new Uint8Array();
  const { body } = multipart(createSeqIds(), [{ name: evil, fileName: evil, mimeType: evil, data }]);
  const [head = ""] = text(body).split("\r\n\r\n");
  expect(head.split(/\r\n|\r|\n/).map((line) => line.split(":")[0])).toEqual([
    expect.stringMatching(/^------/),
    "content-disposition",
    "content-type",
  ]);
});

test("every quotation mark and line end in a name is written as browsers write it, and none in a type", () => {
  const odd = 'a"b"c\rd\re\nf\ng';
  const data = new Uint8Array();
  const { body } = multipart(createSeqIds(), [
    { name: odd, value: "x" },
    { name: odd, fileName: odd, mimeType: "text/a\r\nX-One: 1\r\nX-Two: 2", data },
  ]);
  const written = "a%22b%22c%0Dd%0De%0Af%0Ag";
  expect(
    text(body)
      .split("\r\n")
      .filter((line) => line.startsWith("content-")),
  ).toEqual([
    `content-disposition: form-data; name="${written}"`,
    `content-disposition: form-data; name="${written}"; filename="${written}"`,
    "content-type: text/aX-One: 1X-Two: 2",
  ]);
});
