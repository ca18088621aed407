/** What becomes of each element of a page: the words that are read, those that are left out, and those that are only read where there is nothing else. */
import { describe, expect, spyOn, test } from "bun:test";
import { htmlText } from "./html-text.ts";
import { pageText } from "./page-text.ts";
import type { PageFormat } from "./page-writer.ts";

const NEVER = new AbortController().signal;
const baseUrl = "https://site.example/";
const LONG = "Something of interest to whoever reads it. ".repeat(6).trim();
const textOf = async (html: string, format: PageFormat = "markdown", maxChars = 500_000): Promise<string> =>
  (await htmlText(html, { baseUrl, format, maxChars }, NEVER)).text;
const words = (text: string): readonly string[] => text.split(" ");

describe("an element", () => {
  test.each(
    words(
      "script style noscript template svg math iframe object embed select datalist canvas audio video button textarea",
    ),
  )("<%s> is never read", async (tag) => {
    const content = tag === "embed" ? "<embed>" : `<${tag}>unread</${tag}>`; // the one of them that has no end
    expect(await textOf(`<p>before</p>${content}<p>after</p>`)).toBe("before\n\nafter");
  });

  test.each(words("nav aside footer header form menu dialog"))("<%s> is an edge of the page", async (tag) => {
    expect(await textOf(`<p>${LONG}</p><${tag}>edge</${tag}>`)).toBe(LONG);
  });

  test.each(words("navigation banner contentinfo search complementary menu menubar dialog"))(
    "with the role %s is an edge of the page",
    async (role) => {
      expect(await textOf(`<p>${LONG}</p><div role="${role}">edge</div>`)).toBe(LONG);
    },
  );

  test.each([
    ["hidden", false],
    ['aria-hidden="true"', false],
    ['aria-hidden="false"', true],
    ['style="color: red; display:none"', false],
    ['style="display:  none"', false],
    ['style="visibility: hidden"', false],
    ['style="display: block"', true],
  ])("<div %s> is read: %p", async (attribute, isRead) => {
    expect(await textOf(`<p>${LONG}</p><div ${attribute}>more</div>`)).toBe(isRead ? `${LONG}\n\nmore` : LONG);
  });

  test("that is closed where it begins ends there", async () => {
    expect(await textOf("<p>a</p><svg/><p>b</p>")).toBe("a\n\nb");
    expect(await textOf("<ul><li>a<svg/></li><li>b</li></ul>")).toBe("- a\n- b");
  });

  test.each([
    ["<p>a <span hidden>no</span>b</p>", "a b"],
    ['<ul><li>a</li><li style="display: none">no</li><li>b</li></ul>', "- a\n- b"],
    ['<table><tr><td>a</td><td aria-hidden="true">no</td><td>b</td></tr></table>', "| a | b |\n| --- | --- |"],
  ])("that is hidden in a line is not read: %s", async (html, text) => {
    expect(await textOf(html)).toBe(text);
  });

  test.each(
    words(
      "address article blockquote body dd details div dl dt fieldset figcaption figure hgroup main p section summary tbody thead",
    ),
  )("<%s> stands in lines of its own", async (tag) => {
    const text = await textOf(`${LONG}<${tag}>${LONG}</${tag}>${LONG}`, "text");
    expect(text.replaceAll("> ", "")).toContain(LONG);
    expect(text).not.toContain(`it.Something`);
  });

  test.each([
    ["b", "a **x** b"],
    ["strong", "a **x** b"],
    ["em", "a *x* b"],
    ["i", "a *x* b"],
    ["cite", "a *x* b"],
    ["code", "a `x` b"],
    ["kbd", "a `x` b"],
    ["samp", "a `x` b"],
    ["tt", "a `x` b"],
    ["span", "a x b"],
  ])("<%s> has its mark", async (tag, text) => {
    expect(await textOf(`<p>a <${tag}>x</${tag}> b</p>`)).toBe(text);
    expect(await textOf(`<p>a <${tag}>x</${tag}> b</p>`, "text")).toBe("a x b");
    expect(await textOf(`<p>a <${tag}> </${tag}>b</p>`)).toBe("a b");
  });
});

describe("a page", () => {
  test.each([
    ["a rule", "<p>a</p><hr><p>b</p>", "a\n\n---\n\nb", "a\n\nb"],
    ["six levels of headings", "<h2>a</h2><h6>b</h6>", "## a\n\n###### b", "a\n\nb"],
    ["numbered items", "<ol><li>a<li>b</ol><ol><li>c</ol>", "1. a\n2. b\n1. c", "1. a\n2. b\n1. c"],
    ["an item without a list", "<li>a", "- a", "- a"],
    ["an item of two lines", "<ul><li>a<br>b</ul>", "- a\n  b", "- a\n  b"],
    ["a mark over two lines", "<p><b>a<br>b</b></p>", "**a b**", "a\nb"],
    ["backticks in code", "<p><code>a`b</code></p>", "a`b", "a`b"],
    ["a language of code", '<pre><code class="x lang-c++">a</code></pre>', "```c++\na\n```", "a"],
    ["code over blocks", "<pre><div>a</div><div>b</div></pre>c", "```\na\n\nb\n```\n\nc", "a\n\nb\n\nc"],
    ["code that nobody ended", "<pre>\n  a\n", "```\n  a\n```", "  a"],
    ["empty code", "<p>a</p><pre> </pre>", "a", "a"],
    ["a picture without words", '<p>a<img alt=" "><img>b</p>', "ab", "ab"],
    ["a link to write to", '<a href="mailto:a@b.example">x</a>', "[x](mailto:a@b.example)", "x"],
    ["a link in code", "<pre><a href=/>x</a></pre>", "```\nx\n```", "x"],
    ["a link around blocks", "<a href=/><p>x</p></a>", "x", "x"],
    ["spaces around marks", "<p>a<b> x </b>b</p>", "a **x** b", "a x b"],
    ["an empty row and an empty cell", "<table><tr><tr><td>a<td> <td>b</table>", "| a | b |\n| --- | --- |", "a | b"],
    [
      "two rows with one head",
      "<table><tr><td>a<td>b<tr><td>c<td>d</table>",
      "| a | b |\n| --- | --- |\n| c | d |",
      "a | b\nc | d",
    ],
    ["a block in a cell", "<table><tr><td>a<div>b</div>c<td>d</table>", "| a b c | d |\n| --- | --- |", "a b c | d"],
    [
      "items and a row",
      "<ul><li>a</ul><table><tr><td>b<td>c</table>",
      "- a\n\n| b | c |\n| --- | --- |",
      "- a\n\nb | c",
    ],
    ["controls and many spaces", "<p>a\u0000\t \n b</p>", "a b", "a b"],
    ["two lines quoted", "<blockquote>a<br>b</blockquote>", "> a\n> b", "> a\n> b"],
    ["a word after a quotation", "<blockquote>a</blockquote>b", "> a\n\nb", "> a\n\nb"],
  ])("with %s", async (_what, html, markdown, text) => {
    expect([await textOf(html), await textOf(html, "text")]).toEqual([markdown, text]);
  });

  test.each([
    ["much of it", 200, 10_000, "main"],
    ["too little of it", 199, 10_000, "both"],
    ["more than a quarter of it", 26, 74, "main"],
    ["a quarter of it", 25, 75, "both"],
  ])("is read by what it calls its contents where that is %s", async (_how, mainChars, otherChars, read) => {
    const [main, other] = ["m".repeat(mainChars), "o".repeat(otherChars)];
    for (const open of ["<main>", "<article>", "<div role=main>"]) {
      const text = await textOf(`<p>${other}</p>${open}${main}`);
      expect(text).toBe(read === "main" ? main : `${other}\n\n${main}`);
    }
  });

  test.each([
    ["much else", 200, 10_000, "inner"],
    ["little else, in a long page", 199, 10_000, "all"],
    ["more than a quarter", 26, 74, "inner"],
    ["a quarter", 25, 75, "all"],
  ])("is read without its edges where there is %s beside them", async (_how, innerChars, edgeChars, read) => {
    const [inner, edge] = ["i".repeat(innerChars), "e".repeat(edgeChars)];
    expect(await textOf(`<nav>${edge}</nav><p>${inner}`)).toBe(read === "inner" ? inner : `${edge}\n\n${inner}`);
  });

  test("with one text that never ends is read up to its limit, and no further", async () => {
    using pieces = spyOn(globalThis, "setImmediate");
    expect(await textOf(`<p>${"x".repeat(2_000_000)}`, "text", 1_000)).toBe("x".repeat(1_000));
    expect(pieces.mock.calls.length).toBeLessThan(30); // of about 250
  });

  test("has every entity whole, also in a text that is handed on in parts", async () => {
    for (const offset of [0, 1, 2, 3, 4]) {
      const html = `<p>${"x".repeat(offset)}${"&amp;".repeat(40_000)}`;
      expect(await textOf(html, "text")).toBe("x".repeat(offset) + "&".repeat(40_000));
    }
  });

  test("with an endless text of one sign is read all the same", async () => {
    expect(await textOf(`<p>&${"a".repeat(200_000)}`, "text")).toBe(`&${"a".repeat(200_000)}`);
  });
});

describe("the type of a page", () => {
  const typed = (contentType: string, body: string | Uint8Array) =>
    pageText(
      { url: baseUrl, contentType, body: typeof body === "string" ? Buffer.from(body) : body },
      { format: "text", maxChars: 100 },
      NEVER,
    );

  test.each(
    words(
      "application/javascript application/x-javascript application/ecmascript application/ndjson application/x-ndjson application/toml application/yaml application/x-yaml application/x-sh application/sql application/graphql application/atom+xml text/css",
    ),
  )("%s is text as it is", async (type) => {
    expect((await typed(type, "<b>")).text).toBe("<b>");
  });

  test.each(["application/xhtml+xml", "TEXT/HTML ; charset=utf-8", " text/html"])("%s is HTML", async (type) => {
    expect((await typed(type, "<b>a</b>")).text).toBe("a");
  });

  test.each([
    ["<!DOCTYPE html><p>a", "a"],
    ["<!-- saved --> <html><p>a", "a"],
    ["<head></head>a", "a"],
    ["<body>a", "a"],
    ["<bodyguard>a", "<bodyguard>a"],
    ["a <html>", "a <html>"],
  ])("that nobody names is seen in %p", async (body, text) => {
    for (const type of ["", "application/octet-stream"]) expect((await typed(type, body)).text).toBe(text);
  });

  test.each([
    ["audio/ogg", "a sound file"],
    ["application/gzip", "an archive"],
    ["application/x-tar", "an archive"],
    ["application/x-7z-compressed", "an archive"],
    ["application/msword", "an office document"],
    ["application/vnd.ms-excel", "an office document"],
    ["application/vnd.ms-powerpoint", "an office document"],
    ["application/vnd.oasis.opendocument.text", "an office document"],
  ])("%s is named as %s", async (type, name) => {
    await expect(typed(type, "x")).rejects.toThrow(`The page is ${name}, which web_fetch cannot read`);
  });

  test.each([
    ["a mark before the name", "text/plain; charset=iso-8859-1", Buffer.from("\ufeffß"), "ß"],
    ["a mark of big-endian text", "text/plain", Buffer.from([0xfe, 0xff, 0, 0xdf]), "ß"],
    ["a name in quotes", 'text/plain; charset="iso-8859-1"', Buffer.from([0xdf]), "ß"],
    ["no name", "text/plain", Buffer.from("ß"), "ß"],
    ["no name and no UTF-8", "text/plain", Buffer.from([0xdf]), "ß"],
    ["a name in plain text that is not asked for", "text/plain", Buffer.from("<meta charset=koi8-r>ß"), null],
    ["a name too far in the page", "text/html", Buffer.from(`${" ".repeat(1_024)}<meta charset=koi8-r>ß`), "ß"],
  ])("is read with %s", async (_what, type, body, text) => {
    expect((await typed(type, body)).text).toBe(text ?? "<meta charset=koi8-r>ß");
  });

  test("with more than is kept says so, and not with exactly as much", async () => {
    expect(await typed("text/plain", "x".repeat(101))).toMatchObject({ text: "x".repeat(100), isCut: true });
    expect(await typed("text/plain", "x".repeat(100))).toMatchObject({ text: "x".repeat(100), isCut: false });
  });
});
