/** The documentation holds what it says: its commands run as written, its settings are valid, and what is not run has a reason. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, blocksIn, blocksOf, MAIN_PAGES, pages, PROJECT } from "../scripts/docs/blocks.ts";
import { missingLine } from "../scripts/docs/outputs.ts";
import { runPage } from "../scripts/docs/run-page.ts";
import { runStart } from "../scripts/docs/run-start.ts";
import { checkConfigText } from "../src/config/index.ts";
import { WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** Blocks that need what a test cannot have: time, the network, Docker, the key of a provider, somebody on a platform. */
const MAX_NOT_RUN = 8;
/** Blocks of the main pages that are not run, as `page: reason`. The list may only become shorter. */
const NOT_RUN_ON_MAIN_PAGES: readonly string[] = [];
/** Lines of the main pages that stand for any lines. The number may only become smaller. */
const MAX_OPEN_LINES = 0;
/** All but the one that installs; `npm run docs-check` runs that and every other page. */
const RUN_HERE = MAIN_PAGES.filter((page) => page !== "README.md");
const COMMAND = /^(?:\$ )?(?:npx |npm |pi-gw |curl |mkdir |cp |export )/m;

const all: readonly Block[] = pages().flatMap(blocksOf);
const at = ({ page, line }: Block): string => `${page}:${line}`;
const commands = all.filter(({ language }) => language === "sh");

describe("the commands of the documentation", () => {
  test("are marked as shell, so that the check finds them", () => {
    const unmarked = all.filter(({ language, text }) => language === "" && COMMAND.test(text.split("\n", 1)[0] ?? ""));
    expect(unmarked.map(at)).toEqual([]);
    expect(commands.length).toBeGreaterThan(25);
  });

  test("call pi-gw so that it is found in this folder", () => {
    const bare = commands.filter(({ text }) => /^\s*pi-gw /m.test(text));
    expect(bare.map(at)).toEqual([]);
  });

  test("are run but for a few, each with its reason on the page", () => {
    const left = commands.filter(({ notRun }) => notRun !== null);
    expect(left.length).toBeLessThanOrEqual(MAX_NOT_RUN);
    expect(left.filter(({ notRun }) => (notRun ?? "").length < 10).map(at)).toEqual([]);
  });

  test("of the main pages are all run, but for those with a reason that is known here", () => {
    const left = MAIN_PAGES.flatMap(blocksOf).filter(({ language, notRun }) => language === "sh" && notRun !== null);
    expect(left.map(({ page, notRun }) => `${page}: ${notRun}`)).toEqual([...NOT_RUN_ON_MAIN_PAGES]);
  });

  test.each(RUN_HERE)("of %s run as written against a real gateway", async (page) => {
    const { ok, output, blocks } = await runPage(page, { withoutNpx: true });
    expect(blocks).toBeGreaterThan(0);
    if (!ok) throw new Error(output);
  });
});

test("a block that says it starts the gateway and does not is wrong", async () => {
  const [block] = blocksIn("x.md", "<!-- starts -->\n\n```sh\necho hello\n```\n");
  expect(block?.isStart).toBe(true);
  const { wrong, output } = await runStart(block as Block);
  expect([wrong, output]).toEqual(["x.md:4: it did not say that it is ready", "\n--- x.md:4\nhello\n"]);
});

describe("the output of commands on a page", () => {
  test("is there on the main pages, and follows a block that is run", () => {
    const described = MAIN_PAGES.filter((page) => {
      const blocks = blocksOf(page);
      const outputs = blocks.filter(({ isOutput }) => isOutput);
      const isAfterRun = ({ line }: Block): boolean => {
        const before = blocks.filter((other) => other.line < line).at(-1);
        return before?.language === "sh" && before.notRun === null;
      };
      return outputs.length > 0 && outputs.every(isAfterRun);
    });
    expect(described).toEqual([...MAIN_PAGES]);
  });

  test("is whole on the main pages, but for a few lines that stand for any", () => {
    const open = MAIN_PAGES.flatMap(blocksOf)
      .filter(({ isOutput }) => isOutput)
      .flatMap(({ text }) => text.split("\n").filter((line) => line.trim() === "…"));
    expect(open.length).toBeLessThanOrEqual(MAX_OPEN_LINES);
  });

  test.each([
    ["a line as it is", "one\ntwo", "one\ntwo\n", null],
    ["any text in a line", "took … ms, all … well", "took 12 ms, all is well", null],
    ["any lines", "one\n…\nfour", "one\ntwo\nthree\nfour", null],
    ["no line at all", "one\n…\ntwo", "one\ntwo", null],
    ["what has a meaning in patterns", "cost: $0.00 (a+b)", "cost: $0.00 (a+b)", null],
  ])("stands for %s", (_what, page, printed, missing) => {
    expect(missingLine(page, printed)).toBe(missing);
  });

  test.each([
    ["another word", "one\ntwo", "one\nthree", "two"],
    ["a line that is missing", "one\n…\nfour", "one\ntwo", "four"],
    ["a line more", "one", "one\ntwo", "there is more than the page says"],
    ["another order", "one\ntwo", "two\none", "one"],
  ])("is refused with %s", (_what, page, printed, missing) => {
    expect(missingLine(page, printed)).toBe(missing);
  });
});

describe("every script of package.json answers --help,", () => {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };

  test.each(Object.keys(scripts))("%s, without doing anything else", async (name) => {
    const child = Bun.spawn(["sh", "-c", `${scripts[name]} --help`], {
      cwd: PROJECT,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 10_000,
    });
    const [out, code] = await Promise.all([child.stdout.text(), child.exited]);
    expect({ code, names: /npm (run |test|start)|Usage: pi-gw start/.test(out) }).toEqual({ code: 0, names: true });
  });
});

test("a shell block, its mark and its line are read from Markdown; text between mark and block takes the mark away", () => {
  const markdown =
    "a\n\n<!-- not run: needs a key -->\n\n```sh\nnpm start\n```\n\n<!-- not run: no -->\ntext\n\n```sh\nls\n```\n";
  const found = blocksIn("x.md", markdown).map(({ line, text, notRun }) => [line, text, notRun]);
  expect(found).toEqual([
    [6, "npm start", "needs a key"],
    [13, "ls", null],
  ]);
});

/** Of a variable that a page names. */
const valueOf = (name: string): string =>
  name === "DATABASE_URL" ? "postgres://me@localhost/pi_gateway" : `${name}-value-0123456789abcdef`;

test("every configuration in the documentation is valid", () => {
  const isConfig = ({ language, text }: Block): boolean => language === "jsonc" && /^\s*\{/.test(text);
  const wrong = all.filter(isConfig).flatMap((block) => {
    const { problems, warnings } = checkConfigText(block.text, valueOf);
    return [...problems, ...warnings].map(({ message }) => `${at(block)} ${message}`);
  });
  expect(wrong).toEqual([]);
});

describe("the README", () => {
  const text = readFileSync(join(PROJECT, "README.md"), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| ---"));
  const [head = "", ...claims] = rows;
  const cellsOf = (row: string): readonly string[] =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());

  test("fits on one screen and has a picture of the web console", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(70);
    expect(text.length).toBeLessThanOrEqual(5_000);
    expect(text).toContain("docs/images/console-light.png");
  });

  test("claims in its comparison only what a test or a bench that exists shows", () => {
    expect(cellsOf(head).at(-1)).toBe("Shown by");
    expect(claims.length).toBeGreaterThan(5);
    const { scripts } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as { scripts: object };
    const scenarios = [...readFileSync(join(PROJECT, "docs/performance.md"), "utf8").matchAll(/^\| `([\w-]+)` /gm)];
    const isShown = (shown: string): boolean => {
      const [, name = ""] = /`([^`]+)`/.exec(shown) ?? [];
      const [, scenario] = /^npm run bench -- --only ([\w-]+)$/.exec(name) ?? [];
      if (scenario !== undefined) return scenarios.some(([, one]) => one === scenario);
      const [, script] = /^npm run ([\w-]+)$/.exec(name) ?? [];
      return script === undefined ? existsSync(join(PROJECT, name)) && name !== "" : script in scripts;
    };
    expect(claims.filter((row) => !isShown(cellsOf(row).at(-1) ?? ""))).toEqual([]);
  });

  test("gives the figures of its comparison as the page about performance has them", () => {
    const performance = readFileSync(join(PROJECT, "docs/performance.md"), "utf8");
    const benched = claims.filter((row) => row.includes("npm run bench"));
    const figures = benched.flatMap((row) => [
      ...cellsOf(row)
        .slice(1, 3)
        .join(" ")
        .matchAll(/\d+(?:\.\d+)? to \d+(?:\.\d+)?/g),
    ]);
    expect(figures.length).toBeGreaterThan(3);
    expect(figures.map(([text]) => text).filter((range) => !performance.includes(range))).toEqual([]);
  });
});
