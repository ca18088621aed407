/** Every command has examples in its help, and each of them is a command line that there is. */
import { expect, test } from "bun:test";
import * as commander from "commander";
import { cliFixture } from "../testing/cli-fixture.ts";
import { commandTree, type CommandNode } from "./completion/command-tree.ts";
import { buildProgram } from "./program.ts";
import type { CliWorld } from "./world.ts";

const WORLD = { version: "1", stdout: () => undefined, stderr: () => undefined } as unknown as CliWorld; // only its help is read

const tree = () => commandTree(buildProgram(commander, WORLD, () => undefined));

async function helpOf(...words: string[]): Promise<string> {
  await using fx = await cliFixture();
  await fx.run(...words, "--help");
  return fx.out();
}

/** What is wrong with a line such as `pi-gw sessions list plants`; null: nothing. */
function mistakeIn(line: string, root: CommandNode): string | null {
  let node = root;
  const words = line.replace(/^.*?\bpi-gw /, "").split(/ [|>#] ?| && /)[0] ?? "";
  for (const word of words.replaceAll(/"[^"]*"|'[^']*'/g, "TEXT").split(/\s+/)) {
    const below = node.commands.find(({ name }) => name === word);
    if (below) node = below;
    else if (node.commands.length > 0) return `${node.path} has no command ${word}`;
    else if (/^--?[a-z]/.test(word) && !node.options.some(({ names }) => names.includes(word)))
      return `${node.path} has no option ${word}`;
  }
  return node.commands.length > 0 ? `${node.path} needs one of its commands` : null;
}

test("the help of every command, also below another one, has examples, and each of them is a command line that there is", async () => {
  const root = tree();
  expect(root.commands.length).toBeGreaterThan(30);
  for (const { name, commands } of root.commands) {
    const texts = [await helpOf(name), ...(await Promise.all(commands.map((one) => helpOf(name, one.name))))];
    const lines = texts
      .flatMap((text) => text.split("Examples:\n")[1]?.split("\n") ?? [])
      .filter((line) => /\bpi-gw /.test(line));
    for (const [at, text] of texts.entries())
      expect([name, at, (text.match(/\bExamples:\n.*\bpi-gw /g) ?? []).length]).toEqual([name, at, 1]);
    for (const line of lines) expect([line, mistakeIn(line, root)]).toEqual([line, null]);
  }
});

test("the help of the program tells the exit codes", async () => {
  expect(await helpOf()).toContain("75 try again later");
});
