/** A command that changes one setting: the file is right before and after, what else is in it stays, and the old text is kept. */
import { expect, test } from "bun:test";
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { editConfig, editText, replaceConfig } from "./edit-file.ts";

const NONE = (): undefined => undefined;
const LEVEL = { keys: ["logging", "level"], value: "debug" } as const;

test("a changed setting is in the file when the change is reported; comments stay, and the backup holds the text of before", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  const before = '{\n  // mine\n  "queue": { "maxTotal": 7 },\n}\n';
  await writeFile(path, before);
  expect(await editConfig(path, LEVEL, NONE)).toEqual({ kind: "written", path, backup: `${path}.bak-1` });
  const after = await readFile(path, "utf8");
  expect(after).toContain("// mine");
  expect(after).toContain('"maxTotal": 7');
  expect(after).toMatch(/"logging": \{\s+"level": "debug"\s+\}/);
  expect(await readFile(`${path}.bak-1`, "utf8")).toBe(before);
});

test("a setting that is taken away is gone, and lines end as they did", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  await writeFile(path, '{\r\n  "queue": { "maxTotal": 7 }\r\n}\r\n');
  await editConfig(path, LEVEL, NONE);
  expect((await readFile(path, "utf8")).replaceAll("\r\n", "")).not.toContain("\n");
  await editConfig(path, { keys: ["queue"], value: undefined }, NONE);
  expect(await readFile(path, "utf8")).not.toContain("queue");
});

test("a group goes with its last setting, unless a comment is left in it or its author has named it", () => {
  const text = `{
  "queue": { "maxTotal": 7 },
  "agent": { "pool": { "min": 1 } },
  "cron": { "enabled": true /* why */ },
  "hooks": { "targets": { "ops": { "url": "https://x/" } } }
}
`;
  const paths = ["queue.maxTotal", "agent.pool.min", "cron.enabled", "backup.every", "hooks.targets.ops.url"];
  const edits = paths.map((path) => ({ keys: path.split("."), value: undefined }));
  const after = editText(text, edits);
  const left = ["queue", "agent", "/* why */", '"ops": {}'].map((words) => after.includes(words));
  expect(left).toEqual([false, false, true, true]);
});

test("a file that is not there is made, private and in a private folder, and there is nothing to back up", async () => {
  await using home = await tempHome();
  const path = join(home.path, "new", "pi-gateway.jsonc");
  expect(await editConfig(path, LEVEL, NONE)).toEqual({ kind: "written", path, backup: null });
  expect([(await stat(path)).mode & 0o777, (await stat(join(home.path, "new"))).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(await readdir(join(home.path, "new"))).toEqual(["pi-gateway.jsonc"]);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ logging: { level: "debug" } });
});

test("a linked file is changed where it really is, and the link stays one", async () => {
  await using home = await tempHome();
  await mkdir(join(home.path, "dotfiles"));
  const real = join(home.path, "dotfiles", "mine.jsonc");
  const path = join(home.path, "pi-gateway.jsonc");
  await writeFile(real, "{}");
  await symlink(real, path);
  expect(await editConfig(path, LEVEL, NONE)).toEqual({ kind: "written", path: real, backup: `${real}.bak-1` });
  expect(await readFile(real, "utf8")).toContain("debug");
  expect((await readdir(home.path)).toSorted()).toEqual(["dotfiles", "pi-gateway.jsonc"]);
});

test("a whole text that replaces a linked file is written where the file really is, and the link stays one", async () => {
  await using home = await tempHome();
  const [real, path] = [join(home.path, "mine.jsonc"), join(home.path, "pi-gateway.jsonc")];
  await writeFile(real, "{}");
  await symlink(real, path);
  const written = await replaceConfig(path, "{ /* newer */ }", "{}");
  expect(written).toEqual({ kind: "written", path: real, backup: `${real}.bak-1` });
  expect([await readFile(real, "utf8"), await readlink(path)]).toEqual(["{ /* newer */ }", real]);
});

test.each([
  ["with problems of its own", '{ "logging": { "level": "loud" } }', LEVEL, "problems of its own"],
  ["that is no JSON", "{ nothing", LEVEL, "problems of its own"],
  ["that would not be valid after it", "{}", { keys: ["logging", "level"], value: "loud" }, "logging.level"],
  ["that names a variable that is not set", '{ "gateway": { "auth": { "token": "${NO}" } } }', LEVEL, "NO"],
] as const)(
  "a file %s stays as it is, without a backup, and the reason is told",
  async (_what, text, edit, because) => {
    await using home = await tempHome();
    const path = join(home.path, "pi-gateway.jsonc");
    await writeFile(path, text);
    const edited = await editConfig(path, edit, NONE);
    expect(edited).toMatchObject({ kind: "refused" });
    expect(edited.kind === "refused" ? edited.problems.join("\n") : "").toContain(because);
    expect([await readFile(path, "utf8"), await readdir(home.path)]).toEqual([text, ["pi-gateway.jsonc"]]);
  },
);

test("a file that cannot be read is not changed: neither a folder in its place nor one that is no text", async () => {
  await using home = await tempHome();
  const folder = join(home.path, "folder");
  await mkdir(folder);
  const binary = join(home.path, "binary");
  await writeFile(binary, new Uint8Array([0xff, 0xfe, 0x00]));
  await chmod(binary, 0o600);
  for (const path of [folder, binary])
    expect(await editConfig(path, LEVEL, NONE)).toEqual({
      kind: "refused",
      problems: [`${path} cannot be read. Nothing was changed.`],
    });
  expect((await readdir(home.path)).toSorted()).toEqual(["binary", "folder"]);
});

test("a file that has changed, come or gone since it was read is not replaced", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  await writeFile(path, "{ /* newer */ }");
  const refused = { kind: "refused", problems: [`${path} has changed meanwhile, and was left as it is now.`] };
  for (const before of ["{}", null])
    expect<unknown>([before, await replaceConfig(path, "{ /* mine */ }", before)]).toEqual([before, refused]);
  expect(await readFile(path, "utf8")).toBe("{ /* newer */ }");
  expect(await replaceConfig(`${path}.gone`, "{}", "{}")).toMatchObject({ kind: "refused" });
  expect(await replaceConfig(path, "{ /* mine */ }", "{ /* newer */ }")).toMatchObject({ kind: "written" });
});

test.each([
  ["its comment", '{\n  // mine\n  "store": { "url": "x" },\n}\n', '{\n  // mine\n  "store": {},\n}\n'],
  [
    "its comment of several lines",
    '{\n  /* mine */\n  "store": { "url": "x" },\n}\n',
    '{\n  /* mine */\n  "store": {},\n}\n',
  ],
  ["the comma behind the only group", '{\n  "store": { "url": "x" },\n}\n', "{\n  \n}\n"],
])("a setting that is taken away keeps %s in order", (_what, text, expected) => {
  expect(editText(text, [{ keys: ["store", "url"], value: undefined }])).toBe(expected);
});

const WITH_COMMENT = { ...LEVEL, comment: "Why this is here" };
const WRITTEN = '  // Why this is here\n  "logging": {\n    "level": "debug"\n  }\n';

test.each([
  ["as the first section of a file", "{\n}\n", `{\n${WRITTEN}}\n`],
  ["as a later one, after an empty line", '{\n  "queue": {}\n}\n', `{\n  "queue": {},\n\n${WRITTEN}}\n`],
  [
    "in a file whose lines end as on Windows",
    '{\r\n  "queue": {}\r\n}\r\n',
    `{\n  "queue": {},\n\n${WRITTEN}}\n`.replaceAll("\n", "\r\n"),
  ],
  [
    "unless the section was there, which has its own comments or none on purpose",
    '{\n  "logging": {}\n}\n',
    '{\n  "logging": {\n    "level": "debug"\n  }\n}\n',
  ],
])("a comment stands above the section that an edit brings, %s", (_what, before, after) => {
  expect(editText(before, [WITH_COMMENT])).toBe(after);
});

test("of two edits in a section that is new, the comment of the first stands above it, and each new section has its own", () => {
  const format = { keys: ["logging", "format"], value: "json", comment: "Not this one" };
  const backup = { keys: ["backup", "every"], value: "1d", comment: "Copies" };
  const comments = editText("{\n}\n", [WITH_COMMENT, format, backup]).match(/\/\/ .*\n.*/g);
  expect(comments).toEqual(['// Why this is here\n  "logging": {', '// Copies\n  "backup": {']);
});
