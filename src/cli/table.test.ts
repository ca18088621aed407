/** Tables for people: aligned, safe for a terminal, with colours only where somebody looks at one. */
import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";
import { type Column, tableLines } from "./table.ts";
import type { CliWorld } from "./world.ts";

const COLUMNS: readonly Column<readonly [string, string, string]>[] = [
  ["NAME", ([name]) => name],
  ["EMPTY", ([, empty]) => empty],
  ["ABOUT", ([, , about]) => about],
];
const onTerminal = (noColor: boolean): Pick<CliWorld, "isTerminal" | "environment"> => ({
  isTerminal: true,
  environment: { noColor } as CliWorld["environment"],
});

test("a table has a head, columns as wide as their widest cell, and none for a column in which nothing stands", () => {
  const lines = tableLines(onTerminal(true), COLUMNS, [
    ["a", "", "one"],
    ["日本", "", "two\u001b[2J"],
  ]);
  expect(lines).toEqual(["NAME  ABOUT", "a     one", "日本  two\\u001b[2J"]);
  expect(tableLines(onTerminal(true), COLUMNS, [])).toEqual([]);
});

test("a terminal gets a bold head, and NO_COLOR or a file the bare text", () => {
  const [bold] = tableLines(onTerminal(false), COLUMNS, [["a", "", "b"]]);
  expect(bold).toBe("\u001b[1mNAME  ABOUT\u001b[0m");
  const [bare] = tableLines(onTerminal(true), COLUMNS, [["a", "", "b"]]);
  expect(bare).toBe("NAME  ABOUT");
});

test.each([[["people", "list"]], [["doctor"]]])(
  "pi-gw %j has colours on a terminal, and none in a file or with --json",
  async (argv) => {
    const printed = async (isTerminal: boolean, ...more: readonly string[]): Promise<string> => {
      await using fx = await cliFixture({ isTerminal }, { FORCE_COLOR: "1" });
      await using _gateway = await fakeGateway(fx.home, () =>
        Response.json({ items: [{ principal: "p", role: "owner" }] }),
      );
      await fx.run(...argv, ...more);
      return fx.out();
    };
    expect(await printed(true)).toContain("\u001b[");
    expect(await printed(false)).not.toContain("\u001b");
    expect(await printed(true, "--json")).not.toContain("\u001b");
  },
);
