/** The limits of what is read of one page, each to the last element and character. */
import { describe, expect, spyOn, test } from "bun:test";
import { htmlText } from "./html-text.ts";
import { pageText } from "./page-text.ts";
import { createPageWriter } from "./page-writer.ts";

const NEVER = new AbortController().signal;
const baseUrl = "https://site.example/";
const nothing = () => null;
const writer = (limits: { readonly maxElements?: number; readonly maxChars?: number }) =>
  createPageWriter({ baseUrl, format: "markdown", maxElements: 1_000, maxChars: 1_000, ...limits });
const read = (html: string, maxChars = 100_000) => htmlText(html, { baseUrl, format: "markdown", maxChars }, NEVER);

describe("a page", () => {
  test("is full with one element more than are read, not with the last of them", () => {
    const page = writer({ maxElements: 3 });
    const full = Array.from({ length: 4 }, () => (page.open("b", nothing), page.isFull));
    expect(full).toEqual([false, false, false, true]);
  });

  test.each([
    [9, false],
    [10, true],
  ])("of which ten characters are read is full after %d: %p", (length, full) => {
    const page = writer({ maxChars: 10 });
    const end = page.open("p", nothing);
    page.text("x".repeat(length));
    end?.();
    expect(page.isFull).toBe(full);
  });

  test("of one endless line is cut at the last character that is read", () => {
    const page = writer({ maxChars: 10 });
    for (const text of ["0123", "4567", "89ab", "cdef"]) page.text(text);
    expect(page.finish().text).toBe("0123456789");
  });

  test("that is full is not read to its end, and one that is not full lets others go first between its pieces", async () => {
    const html = `<p>${"x".repeat(100)}</p>`.repeat(4_000); // about fifty pieces
    using pieces = spyOn(globalThis, "setImmediate");
    expect((await read(html, 1_000)).isCut).toBe(true);
    expect(pieces.mock.calls.length).toBeLessThan(10);
    await read(html, 1_000_000);
    expect(pieces.mock.calls.length).toBeGreaterThan(50);
  });

  test("has lists of six levels, and deeper ones on the sixth", async () => {
    const { text } = await read(`${"<ul><li>a".repeat(8)}`);
    const depths = text.split("\n").map((line) => line.search(/\S/) / 2);
    expect(depths).toEqual([0, 1, 2, 3, 4, 5, 5, 5]);
  });

  test("has quotations of four levels at most", async () => {
    expect((await read(`${"<blockquote>".repeat(6)}deep`)).text).toBe("> > > > deep");
  });

  test("has a title of three hundred characters, and links of five hundred", async () => {
    const link = (chars: number) => `https://site.example/${"x".repeat(chars - "https://site.example/".length)}`;
    const { title, text } = await read(
      `<title>${"t".repeat(301)}</title><a href="${link(500)}">a</a> <a href="${link(501)}">b</a>`,
    );
    expect([title.length, text]).toEqual([300, `[a](${link(500)}) b`]);
  });

  test("of a type with a name that never ends is refused in a short sentence", async () => {
    const page = { url: baseUrl, contentType: `model/${"x".repeat(1_000)}`, body: new Uint8Array(4) };
    const refused = pageText(page, { format: "text", maxChars: 10 }, NEVER);
    await expect(refused).rejects.toThrow(new RegExp(`of the type model/x{94},`));
  });
});
