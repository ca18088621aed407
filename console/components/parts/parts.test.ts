import { expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";

const COMPONENTS = dirname(import.meta.dir);

/** Each has one part that draws it, so that all of them look and read the same. */
const PARTS = [
  { what: /<dl class="facts"/, part: "parts/fact-list.tsx" },
  { what: /<table class="table/, part: "parts/table.tsx" },
  { what: /<pre\b/, part: "parts/verbatim.tsx" },
  { what: /class="filter-text"/, part: "parts/find-field.tsx" },
] as const;

test("facts, tables, verbatim text and finding fields are drawn by one part each", async () => {
  const files = [...new Bun.Glob("**/*.tsx").scanSync({ cwd: COMPONENTS, absolute: true })];
  const sources = await Promise.all(
    files.map(async (file) => ({ file: relative(COMPONENTS, file), text: await Bun.file(join(file)).text() })),
  );
  for (const { what, part } of PARTS)
    expect([part, sources.filter(({ text }) => what.test(text)).map(({ file }) => file)]).toEqual([part, [part]]);
});
