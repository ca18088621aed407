/** What is read of a page: its text in Markdown, without its edges, whatever the page is made of, and never at the gateway's expense. */
import { describe, expect, test, spyOn } from "bun:test";
import { htmlText, MAX_ELEMENTS } from "./html-text.ts";
import type { PageFormat } from "./page-writer.ts";

const never = new AbortController().signal;
const baseUrl = "https://site.example/news/today";
const read = (html: string, format: PageFormat = "markdown") =>
  htmlText(html, { baseUrl, format, maxChars: 100_000 }, never);
const textOf = async (html: string, format?: PageFormat): Promise<string> => (await read(html, format)).text;
const LONG = "A paragraph that says something of interest to whoever reads it. ".repeat(5).trim();

describe("a page as Markdown", () => {
  test.each<[what: string, html: string, text: string]>([
    ["paragraphs", "<p>one</p>\n<p>two\n  words</p>", "one\n\ntwo words"],
    ["paragraphs that nobody ended", "<p>one<p>two", "one\n\ntwo"],
    ["headings", "<h1>Big</h1><h3>Small</h3>x", "# Big\n\n### Small\n\nx"],
    ["emphasis", "<p>a <b>b</b> <em>c </em>d</p>", "a **b** *c* d"],
    ["links, made whole", '<a href="/x?a=1&amp;b=(2)">here</a>', "[here](https://site.example/x?a=1&b=%282%29)"],
    ["links that lead nowhere", '<a href="javascript:alert(1)">a</a> <a href="#top">b</a> <a>c</a>', "a b c"],
    ["lists", "<ul><li>a<li>b<ol><li>c</ol></ul>d", "- a\n- b\n  1. c\n\nd"],
    ["quotations", "<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n\n> b\n\nc"],
    ["code", '<pre><code class="language-js">let a = 1;\n  b &lt; c</code></pre>', "```js\nlet a = 1;\n  b < c\n```"],
    ["code with fences in it", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
    ["inline code", "<p>use <code>a_b</code></p>", "use `a_b`"],
    [
      "tables",
      "<table><tr><th>a<th>b|c<tr><td>1</td><td><p>2</p><p>3</p></td></tr></table>",
      "| a | b\\|c |\n| --- | --- |\n| 1 | 2 3 |",
    ],
    ["tables for the looks", "<table><tr><td>alone</td></tr></table>", "alone"],
    ["line breaks", "a<br>b<br/>c", "a\nb\nc"],
    ["entities", "<p>&copy; 2026 &mdash; a&nbsp;b &#x1F600; &amp;lt;</p>", "© 2026 — a b 😀 &lt;"],
    ["words around code", "before<pre>code</pre>after", "before\n\n```\ncode\n```\n\nafter"],
    ["code in an item of a list", "<ul><li>x<pre>code</pre>y</li></ul>", "- x\n\n```\ncode\n```\n\ny"],
    ["code in a table", "<table><tr><td>a<td><pre>b</pre></table>z", "a\n\n```\nb\n```\n\nz"],
    ["code in a quotation", "<blockquote>q<pre>c</pre></blockquote>r", "> q\n\n> ```\n> c\n> ```\n\nr"],
    ["words around a rule", "a<hr>b", "a\n\n---\n\nb"],
    ["a heading in an item of a list", "<ul><li>x<h2>big</h2>y</ul>", "- x\n\n## big\n\ny"],
    ["a list in a table", "<table><tr><td>a<td><ul><li>b<li>c</ul></table>z", "a\n\n- b\n- c\n\nz"],
    ["a second list after a first", "<ol><li>a<li>b</ol><ol><li>c</ol>", "1. a\n2. b\n1. c"],
    ["an entity that a comment parts, which is none", "<p>a &am<!-- x -->p; b</p>", "a &amp; b"],
    ["pictures", '<p><img src=x alt="A heron"> stands</p>', "[image: A heron] stands"],
    ["marks that cross", "<p>a<b>x</p></b>y", "a**x**\n\ny"],
  ])("has %s", async (_what, html, text) => {
    expect(await textOf(html)).toBe(text);
  });

  test("has no scripts, styles or hidden text in it, and its title apart", async () => {
    const html = `<title>A &amp; B</title><style>p{}</style><script>let x = "<p>no</p>"</script><p>${LONG}</p><p hidden>no</p><p style="display:none">no</p><noscript>no</noscript>`;
    expect(await read(html)).toEqual({ title: "A & B", text: LONG, isCut: false });
  });

  test("has a title of limited length", async () => {
    const { title } = await read(`<title>${"t".repeat(10_000)}</title><p>${LONG}</p>`);
    expect(title).toBe("t".repeat(300));
  });

  test("is what the page calls its contents, without menus, where there is such a thing", async () => {
    const menu = "<nav><ul><li><a href=/>Home</a></ul></nav>";
    const html = `<header>Site</header>${menu}<div>Advert</div><main><header><h1>Herons</h1></header>${menu}<p>${LONG}</p></main><footer>Imprint</footer>`;
    expect(await textOf(html)).toBe(`# Herons\n\n${LONG}`);
  });

  test("is everything when nothing else is left", async () => {
    expect(await textOf("<form><p>Only a form</p></form>")).toBe("Only a form");
    expect(await textOf("<nav><p>A menu that nobody ended")).toBe("A menu that nobody ended");
  });
});

test("a page as text has no marks", async () => {
  const html = '<h1>Big</h1><p>a <b>b</b> <a href="/x">c</a></p><table><tr><td>1<td>2</table>';
  expect(await textOf(html, "text")).toBe("Big\n\na b c\n\n1 | 2");
});

describe("a hostile page", () => {
  const many = (piece: string, times: number): string => piece.repeat(times);
  test.each<[what: string, html: string]>([
    ["is nested without end", `${many("<div>", 200_000)}x`],
    ["has formats inside formats", `${many("<b><i>", 100_000)}x`],
    ["has tables inside tables", `${many("<table><tr><td>", 50_000)}x`],
    ["has lists inside lists", `${many("<ul><li>", 100_000)}x`],
    ["has links inside links", many("<a href=x>y", 100_000)],
    ["has quotations inside quotations", many("<blockquote>x", 50_000)],
    ["has endless attributes", `<p ${many("a=1 ", 250_000)}>x`],
    ["has one long attribute", `<p title="${many("x", 1_000_000)}">x`],
    ["is all entities", many("&amp;", 200_000)],
    ["is all comments", many("<!--", 250_000)],
    ["is one script that nobody ended", `<script>${many("x", 1_000_000)}`],
    ["is all end tags", many("</p>", 250_000)],
    ["is all options", many("<select><option>", 60_000)],
    ["is one line", many("x", 1_000_000)],
    ["is full of backticks", `<pre>${many("` `` ", 200_000)}</pre>`],
  ])("that %s takes little computing, and the gateway does other things in between", async (_what, html) => {
    const busyMs = (): number => process.cpuUsage().user / 1_000; // not the clock on the wall: others use this machine too
    let worst = 0;
    let before = busyMs();
    const watching = setInterval(() => {
      worst = Math.max(worst, busyMs() - before);
      before = busyMs();
    }, 1);
    const began = busyMs();
    const { text } = await read(html);
    clearInterval(watching);
    expect(text.length).toBeLessThanOrEqual(400_000);
    expect(busyMs() - began).toBeLessThan(1_500);
    expect(worst).toBeLessThan(100);
  });

  test("with more elements than any page has is cut, and says so", async () => {
    const { isCut, text } = await read(many("<p>a</p>", MAX_ELEMENTS + 10_000));
    expect([isCut, text.startsWith("a\n\na")]).toEqual([true, true]);
  });

  test("is no longer read when its reader has gone", async () => {
    const gone = new AbortController();
    using pieces = spyOn(globalThis, "setImmediate"); // once before each piece, of which this page has about fifty
    const reading = htmlText(many("<p>a</p>", 50_000), { baseUrl, format: "text", maxChars: 1_000_000 }, gone.signal);
    gone.abort(new Error("nobody reads on"));
    await expect(reading).rejects.toThrow("nobody reads on");
    expect(pieces.mock.calls.length).toBeLessThan(10);
  });
});
