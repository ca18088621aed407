/** Where texts for Discord are cut, and how HTML becomes its marks: small tables beside the properties of generated texts. */
import { describe, expect, test } from "bun:test";
import { renderMessage } from "./render.ts";
import { splitText } from "./split.ts";

describe("a text for discord", () => {
  test.each([
    ["that fits is one message", "0123456789", ["0123456789"]],
    ["is cut between paragraphs", "01234\n\n7\n9ab", ["01234", "7\n9ab"]],
    ["is cut between lines", "01\n34567\n89ab", ["01\n34567", "89ab"]],
    ["is cut after a sentence", "01. 345. 789ab", ["01. 345.", "789ab"]],
    ["is cut after a sentence in quotes", '01 34." 789ab', ['01 34."', "789ab"]],
    ["is cut between words", "01 345 789ab", ["01 345", "789ab"]],
    ["is cut at a tab", "01\t345\t789ab", ["01\t345", "789ab"]],
    ["is cut anywhere if it has to be", "0123456789ab", ["0123456789", "ab"]],
    ["is not cut too early for a nicer place", "01 3456789ab", ["01 3456789", "ab"]],
    ["is cut inside no character", "012345678👍ab", ["012345678", "👍ab"]],
    ["has no piece that begins with space", "0123456789    ab", ["0123456789", "ab"]],
    ["of nothing but space is nothing", "\n  \n", []],
  ])("%s", (_what, text, messages) => {
    expect(splitText(text, 10)).toEqual(messages);
  });

  test.each([
    [
      "closes a block and opens it again in its language",
      "```js\naaaa\nbbbb\ncccc\n```",
      ["```js\naaaa\nbbbb\n```", "```js\ncccc\n```"],
    ],
    ["keeps a block whole that begins late", "0123456789\n```\nab\n```", ["0123456789", "```\nab\n```"]],
    [
      "does not end a block at a shorter or another mark",
      "````\n```\n~~~\n````\n\nxyz",
      ["````\n```\n~~~\n````", "xyz"],
    ],
    ["does not show an empty block", "```\naaaaaaaaaaaa\n```\n\nx", ["```\naaaaaaaaaaaa\n```", "x"]],
  ])("%s", (_what, text, messages) => {
    expect(splitText(text, 20)).toEqual(messages);
  });

  test("repeats no info line of a block that is longer than forty letters", () => {
    const open = (info: string) =>
      splitText(`\`\`\`${info}\n${"a\n".repeat(60)}\`\`\``, 100)
        .at(-1)
        ?.split("\n")[0];
    expect([open("i".repeat(40)), open("i".repeat(41))]).toEqual([`\`\`\`${"i".repeat(40)}`, "```"]);
  });
});

test.each([
  ["<b>a</b><strong>b</strong>", "**a****b**"],
  ["<i>a</i> <em>b</em>", "*a* *b*"],
  ["<u>a</u>", "__a__"],
  ["<s>a</s> <del>b</del> <strike>c</strike>", "~~a~~ ~~b~~ ~~c~~"],
  ["<pre>a</pre>", "```\na\n```"],
  ['<pre><code class="x">a</code></pre>', "```\na\n```"],
  ["<code>a</code>", "`a`"],
  ['<a href="https://e.org/x">a</a>', "[a](https://e.org/x)"],
  ["a<br>b<br/>c", "a\nb\nc"],
  ["<span class='x'>a</span><x-y>", "a"],
  ["a &lt;3 &gt; &quot;b&quot; &amp;lt;", 'a <3 > "b" \\<'],
])("discord shows the HTML %s as %p", (html, text) => {
  expect(renderMessage({ text: html, format: "html" })).toEqual([text]);
});

test("discord takes a message of two thousand characters, and cuts a longer one", () => {
  const lengths = (chars: number) =>
    renderMessage({ text: "x".repeat(chars), format: "plain" }).map((one) => one.length);
  expect([lengths(2_000), lengths(2_001)]).toEqual([[2_000], [2_000, 1]]);
});
