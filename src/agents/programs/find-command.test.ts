/** Which file a command is, and what the wall has to let it read. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TempHome, tempHome } from "../../testing/temp-home.ts";
import { findCommand } from "./find-command.ts";

let home: TempHome;
let root = "";
beforeAll(async () => {
  home = await tempHome();
  root = realpathSync(home.path);
});
afterAll(() => home[Symbol.asyncDispose]());

function program(...path: readonly string[]): string {
  const file = join(root, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
}

function link(to: string, ...path: readonly string[]): string {
  const file = join(root, ...path);
  mkdirSync(dirname(file), { recursive: true });
  symlinkSync(to, file);
  return file;
}

const find = (command: string, args: readonly string[] = [], path = "") =>
  findCommand({ command, args, path, userHome: join(root, "me") });

describe("a command", () => {
  test("that npm linked into .bin or a global bin is run as the file of its package, with the package readable", () => {
    const script = program("app", "node_modules", "server", "dist", "index.js");
    for (const at of [
      ["app", "node_modules", ".bin", "server"],
      ["usr", "bin", "server"],
    ]) {
      const linked = link(script, ...at);
      const found = find(linked);
      expect(found?.file).toBe(script);
      expect(found?.read).toContain(join(root, "app", "node_modules"));
    }
  });

  test("that is another link keeps its name, because what it does may depend on it", () => {
    const real = program("many", "busybox");
    const linked = link(real, "many", "wget");
    expect(find(linked)).toMatchObject({ file: linked, read: [linked, real] });
  });

  test("without a folder is looked for in PATH, where relative folders do not count", () => {
    const file = program("tools", "speak");
    expect(find("speak", [], `.:${join(root, "nowhere")}:${join(root, "tools")}`)?.file).toBe(file);
    expect(find("speak", [], ".")).toBeNull();
  });

  test("in the home directory is found by ~", () => {
    const file = program("me", "bin", "mine");
    expect(find("~/bin/mine")?.file).toBe(file);
  });

  test("that is not there, is a folder or may not be run is none", () => {
    writeFileSync(join(root, "text"), "");
    expect([join(root, "nothing"), root, join(root, "text")].map((command) => find(command))).toEqual([
      null,
      null,
      null,
    ]);
  });

  test("that is an interpreter reads its libraries, and the package of the script it is given by its whole path", () => {
    const node = program("node", "bin", "node");
    const script = program("other", "node_modules", "it", "main.js");
    expect(find(node, ["--flag", script])).toMatchObject({
      file: node,
      read: [node, node, script, join(root, "other", "node_modules")],
      readIfThere: expect.arrayContaining([join(root, "node", "bin"), join(root, "node", "lib")]),
    });
    expect(find(node, ["main.js"])?.read).toEqual([node, node]);
  });
});
