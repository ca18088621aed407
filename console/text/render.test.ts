import { describe, expect, test } from "bun:test";
import { NO_BLOCKS, splitBlocks } from "./blocks.ts";
import { highlight } from "./highlight.ts";
import { writeMath } from "./katex.ts";
import { createRenderer, safeHref } from "./render.ts";

function html(markdown: string, colours = false): string {
  return splitBlocks(markdown, NO_BLOCKS)
    .tokens.map(createRenderer(colours ? highlight : null, writeMath))
    .join("");
}

describe("text that a model writes cannot act on the web console", () => {
  test.each([
    "<script>alert(1)</script>",
    "text <img src=x onerror=alert(1)> text",
    "<svg onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "| a |\n|---|\n| <b onclick=alert(1)>x</b> |",
    "- item <style>*{display:none}</style>",
    "```html\n<script>alert(1)</script>\n```",
    "`<script>alert(1)</script>`",
  ])("raw HTML is shown as text: %s", (markdown) => {
    const tags = [...html(markdown).matchAll(/<([a-z]+)/g)].map((match) => match[1]);
    const ours = ["p", "div", "span", "button", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"];
    expect(tags.filter((tag) => !ours.includes(tag ?? ""))).toEqual([]);
    expect(html(markdown)).not.toMatch(/<[^>]*\son\w+=/);
  });

  test.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "vbscript:x",
    "data:text/html,<script>1</script>",
    "file:///etc/passwd",
    "blob:http://x/1",
    "/api/sign-out",
    "//evil.example",
    "#/chat/1",
  ])("a link to %j is only its words", (href) => {
    expect(safeHref(href)).toBeNull();
    expect(html(`[words](<${href.replaceAll("\n", "&#10;")}>)`)).not.toContain("<a ");
  });

  test("a link opens in its own tab and tells the other side nothing", () => {
    expect(html("[docs](https://example.com/a?b=1&c=2)")).toBe(
      '<p><a href="https://example.com/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer">docs</a></p>\n',
    );
  });

  test("a quote in an address cannot leave its attribute", () => {
    expect(html('[x](https://example.com/"onmouseover="alert(1))')).not.toMatch(/"\s*onmouseover/);
  });

  test("an image from elsewhere is a link and is not fetched", () => {
    expect(html("![a cat](https://example.com/cat.png)")).toBe(
      '<p><a href="https://example.com/cat.png" target="_blank" rel="noopener noreferrer">Image: a cat</a></p>\n',
    );
    expect(html("![x](data:image/svg+xml;base64,AAAA)")).toBe("<p>Image: x</p>\n");
  });
});

describe("code", () => {
  test("is coloured in the languages the web console knows, by their usual names", () => {
    expect(html("```ts\nconst a = 1;\n```", true)).toContain('<span class="hljs-keyword">const</span>');
    expect(html("```sh\necho 1\n```", true)).toContain("hljs-built_in");
  });

  test("in any other language stays plain and whole", () => {
    expect(html("```cobol\nMOVE <A> TO B\n```", true)).toContain("<code>MOVE &lt;A&gt; TO B</code>");
  });

  test("cannot bring markup in through the name of its language", () => {
    expect(html('```"><img/src=x>\nx\n```')).not.toContain("<img");
  });
});

describe("streaming", () => {
  const text =
    "# One\n\nTwo *three*\n\n- a\n- b\n\n  more of b\n\n- c\n\n```ts\nconst x = 1;\n\nconst y = 2;\n```\n\nEnd | of\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n\nlast";

  test("ends with the same page as the whole text at once, wherever it is cut", () => {
    for (const step of [1, 2, 3, 7, 16]) {
      let blocks = NO_BLOCKS;
      for (let end = step; end < text.length + step; end += step) blocks = splitBlocks(text.slice(0, end), blocks);
      expect(blocks.tokens.map((token) => token.raw)).toEqual(
        splitBlocks(text, NO_BLOCKS).tokens.map((token) => token.raw),
      );
    }
  });

  test("leaves finished blocks as they are", () => {
    const before = splitBlocks("one\n\ntwo\n\nthree\n\nfo", NO_BLOCKS);
    const after = splitBlocks("one\n\ntwo\n\nthree\n\nfour", before);
    expect(after.tokens[0]).toBe(before.tokens[0] as (typeof after.tokens)[0]);
    expect(after.tokens.at(-1)?.raw).toBe("four");
  });

  test("starts over when the text is not a continuation", () => {
    const before = splitBlocks("one\n\ntwo\n\nthree", NO_BLOCKS);
    expect(splitBlocks("other", before).tokens.map((token) => token.raw)).toEqual(["other"]);
  });
});

describe("formulas", () => {
  const formulas = (markdown: string) =>
    [...html(markdown).matchAll(/<annotation encoding="application\/x-tex">([^<]*)<\/annotation>/g)].map(
      ([, tex]) => tex,
    );

  test.each([
    ["inline $a^2 + b^2$ here", ["a^2 + b^2"]],
    ["inline \\(x_1\\) and \\(x_2\\)", ["x_1", "x_2"]],
    ["$$\\int_0^1 x\\,dx$$", ["\\int_0^1 x\\,dx"]],
    ["before\n\n\\[\nE = mc^2\n\\]\n\nafter", ["E = mc^2"]],
    ["- in a list: $x$", ["x"]],
    ["| a |\n|---|\n| $y$ |", ["y"]],
  ])("are written as MathML: %p", (markdown, found) => expect(formulas(markdown)).toEqual(found));

  test.each([
    "it costs $5 and $6",
    "from $5-$10 a month",
    "US$ 5 or $ 6 $",
    "`$x$` in code",
    "```sh\necho $HOME $PATH\n```",
    "an escaped \\$x$ sign",
    "$\\notacommand{$",
  ])("are not seen where none is meant, and what cannot be read stays as it was written: %p", (markdown) => {
    expect(formulas(markdown)).toEqual([]);
    expect(html(markdown)).not.toContain("<math");
  });

  test("cannot lead out of the web console, and a bomb of macros ends as text", () => {
    for (const hostile of [
      "$\\href{javascript:alert(1)}{x}$",
      "$\\url{javascript:alert(1)}$",
      "$\\includegraphics{https://evil.example/x.png}$",
      "$\\htmlData{a=b}{x}$",
      "$\\text{<img src=x onerror=alert(1)>}$",
    ])
      expect(html(hostile)).not.toMatch(/href=|<img|<mglyph|data-a|<[^>]*src=/);
    const bomb = "$\\def\\a{\\b\\b}\\def\\b{\\c\\c}\\def\\c{\\d\\d}\\def\\d{\\a}\\a$";
    expect(html(bomb)).toStartWith("<p><code>");
  });
});
