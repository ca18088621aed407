/** How a seeded bug is put into a file: by function and by code, whatever the layout; and what is said when it fits no longer. */
import { describe, expect, test } from "bun:test";
import { type CodeChange, withBug } from "./seeded-bug.ts";

const FILE = `
const MAX_TRIES = 3;

export function createOutbox(deps: Deps): Outbox {
  const send = async (row: Row): Promise<void> => {
    if (row.state === "pending") await deps.send(row, { again: false, why: 'it is "new"' }); // the first time
  };
  return {
    close() {
      deps.stop();
    },
    all: () => [1, 2],
  };
}

function openStore(): Store {
  return {
    close() {
      deps.stop();
    },
    page: sql\`select *
      from outbox where ended_at < \${p("endedAt")} / 2\`,
  };
}
`;

const bug = (change: Partial<CodeChange>): CodeChange => ({
  what: "It is broken.",
  file: "src/a.ts",
  in: "createOutbox",
  find: "deps.stop();",
  replace: "",
  ...change,
});
const put = (change: Partial<CodeChange>) => withBug(FILE, bug(change));

describe("a seeded bug", () => {
  test("changes its code in the function it names and nothing else", () => {
    const [first, second] = [
      FILE.slice(0, FILE.indexOf("function openStore")),
      FILE.slice(FILE.indexOf("function openStore")),
    ];
    expect(put({}).text).toBe(FILE.replace("deps.stop();", ""));
    expect(put({ in: "openStore" }).text).toBe(first + second.replace("deps.stop();", ""));
  });
  test.each([
    ["white space", "if(row.state==='pending')  await deps.send("],
    ["line breaks", "await deps.send(\n  row,\n  { again: false,"],
    ["trailing commas and quotes", '{\n again: false,\n why: "it is \\"new\\"",\n},\n)'],
    ["comments", "deps.send(row, /* once */ { again: false"],
    ["the lines of SQL in a template", "select * from outbox where ended_at <"],
  ])("is found whatever the layout: %s", (_, find) => {
    expect(put({ in: find.startsWith("select") ? "openStore" : "send", find, replace: "x" }).why).toBeNull();
  });
  test("takes a comma at its end with it, where the layout has one", () => {
    expect(put({ in: "send", find: "again: false,", replace: "" }).text).toContain("{  why: 'it is");
    const text = "function f() {\n  g({\n    a: 1,\n    b: 2,\n  });\n  h({ b: 2 });\n}\n";
    expect(withBug(text, bug({ in: "f", find: "a: 1, b: 2,", replace: "" })).text).toContain("g({\n    });");
  });
  test("begins and ends between tokens: a part of a name or of an operator is not found", () => {
    expect([put({ find: "eps.stop();" }).text, put({ in: "send", find: "= 'pending'" }).text]).toEqual([null, null]);
  });
  test("is found after a template whose text touches its values", () => {
    const text = "function f() {\n  const key = `${a}\\n${b}$`;\n  g(); // last\n}\n";
    const change = { in: "f", find: "g();", replace: "" };
    expect(withBug(text, bug(change)).text).toBe(text.replace("g();", ""));
    expect(withBug(text.replace("g(); // last", "h(); // g();"), bug(change)).text).toBeNull();
  });
  test("can name a constant, an arrow function or a method, and a function inside of another", () => {
    expect(put({ in: "MAX_TRIES", find: "3", replace: "4" }).text).toContain("MAX_TRIES = 4");
    expect(put({ in: "send", find: "again: false", replace: "again: true" }).text).toContain("again: true");
    expect(put({ in: "openStore.close" }).text).toBe(put({ in: "openStore" }).text);
  });
});

describe("a seeded bug that does not fit says why", () => {
  test.each<[string, Partial<CodeChange>, string]>([
    [
      "a function of another name, and where the code is now",
      { in: "startOutbox", find: "return { close()" },
      "is in startOutbox, and the file has no such function. That code is in createOutbox (line 8) and openStore (line 17) now.",
    ],
    [
      "a function of another name, and names like it",
      { in: "createOutboxes", find: "gone()" },
      "is in createOutboxes, and the file has no such function. It has createOutbox, MAX_TRIES, openStore, send, close.",
    ],
    [
      "code in another function",
      { in: "openStore", find: 'row.state === "pending"' },
      'changes `row.state === "pending"`, and openStore has no such code. That code is in send (line 6) now.',
    ],
    [
      "code that has changed, and the line that is near",
      { in: "send", find: 'if (row.state === "waiting") await deps.send(' },
      'changes `if (row.state === "waiting") await deps.send(`, and send has no such code. Near it, line 6: ' +
        '`if (row.state === "pending") await deps.send(row, { again: false, why: \'it is "new"\' }); // the first time` ' +
        '(`"pending"` where `"waiting"` is looked for).',
    ],
    [
      "code like nothing there",
      { find: "gone.with(the.wind)" },
      "changes `gone.with(the.wind)`, and createOutbox has no such code. Nothing there is like it.",
    ],
    [
      "code that is there twice",
      { in: "close" },
      "changes `deps.stop();`, which close has 2 times (lines 10, 19). Add code around it.",
    ],
    ["no change", { replace: "deps . stop() ;" }, "replaces its code by the same code."],
    ["no code", { find: "// only words" }, "has no code to find."],
  ])("%s", (_, change, why) => {
    expect(put(change)).toEqual({ text: null, why: `src/a.ts: "It is broken." ${why}` });
  });
});
