import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createLineSplitter } from "./jsonl.ts";

function collect(chunks: readonly Uint8Array[], maxLineBytes = 1_000) {
  const lines: string[] = [];
  let tooLong = 0;
  const splitter = createLineSplitter(maxLineBytes, { line: (text) => lines.push(text), tooLong: () => tooLong++ });
  for (const chunk of chunks) splitter.push(chunk);
  return { lines, tooLong };
}
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("JSON lines", () => {
  test("are split on LF only: other line separators stay inside the text", () => {
    expect(collect([bytes('{"a":"x\u2028y\u2029z"}\r\n{"b":1}\n')]).lines).toEqual([
      '{"a":"x\u2028y\u2029z"}',
      '{"b":1}',
    ]);
  });

  test("come out the same however the bytes are cut, in the middle of a character too", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme" })),
        fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
        (texts, sizes) => {
          const lines = texts.map((text) => text.replaceAll(/[\n\r]/g, "").toWellFormed());
          const all = bytes(lines.map((line) => `${line}\n`).join(""));
          const chunks: Uint8Array[] = [];
          for (let at = 0; at < all.length;) {
            const size = sizes.next().value;
            chunks.push(all.slice(at, at + size));
            at += size;
          }
          expect(collect(chunks, 100_000).lines).toEqual(lines);
        },
      ),
    );
  });

  test("longer than the cap are reported once and never held", () => {
    expect(collect([bytes("x".repeat(600)), bytes("x".repeat(600)), bytes("x\nok\n")])).toEqual({
      lines: [],
      tooLong: 1,
    });
  });
});
