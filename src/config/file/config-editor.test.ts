/** The configuration file for an editor: a change is looked at first, written as a whole or not at all, and never over somebody else's. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { defaultConfig } from "../check/check.ts";
import { openConfigEditor } from "./config-editor.ts";

const TOKEN = "a-token-of-at-least-22-characters";
const FILE = `{
  // mine
  "gateway": { "auth": { "token": "${TOKEN}" } },
  "logging": { "level": "warn" }
}
`;

/** A file whose changes the gateway does not take over. */
const NOT_TAKEN = "{ /* kept */ }";

async function world(text: string | null, config = defaultConfig) {
  const home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  if (text !== null) await writeFile(path, text);
  const reloads: string[] = [];
  const editor = openConfigEditor({
    path: () => path,
    config,
    variables: () => undefined,
    async reload() {
      reloads.push(await readFile(path, "utf8"));
      return { problems: text === NOT_TAKEN ? ["The new settings were not taken over."] : [] };
    },
  });
  const { version } = await editor.file();
  return { home, path, editor, reloads, version, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

const LEVEL = { edits: [{ path: ["logging", "level"], value: "debug" }] };

test("the file is shown without its secrets, and a proposal says what would change and writes nothing", async () => {
  await using on = await world(FILE);
  expect((await on.editor.file()).text).toBe(FILE.replace(TOKEN, "(hidden)"));
  const proposal = await on.editor.propose({ version: on.version, ...LEVEL });
  expect(proposal).toMatchObject({
    problems: [],
    changes: [{ path: "logging.level", before: "warn", after: "debug", needsRestart: false }],
    weakensAuth: false,
  });
  expect(proposal.text).toBe(FILE.replace(TOKEN, "(hidden)").replace("warn", "debug"));
  expect([await readFile(on.path, "utf8"), on.reloads]).toEqual([FILE, []]);
});

test("a saved change is in the file with its comments and secrets, the old text is kept, and it is put into force", async () => {
  await using on = await world(FILE);
  const saved = await on.editor.save({ version: on.version, ...LEVEL });
  expect(saved).toMatchObject({ written: true, backup: `${on.path}.bak-1`, notInForce: [] });
  expect(JSON.stringify(saved)).not.toContain(TOKEN);
  expect([await readFile(on.path, "utf8"), await readFile(`${on.path}.bak-1`, "utf8")]).toEqual([
    FILE.replace("warn", "debug"),
    FILE,
  ]);
  expect(on.reloads).toEqual([FILE.replace("warn", "debug")]);
});

test("a text that comes back keeps hidden secrets, and a new secret is a change that shows no value", async () => {
  await using on = await world(FILE);
  const { text } = await on.editor.file();
  const change = { version: on.version, text: (text ?? "").replace("(hidden)", "another-token-of-22-characters!") };
  const proposal = await on.editor.propose(change);
  expect(proposal.changes).toEqual([{ path: "gateway.auth.token", before: "set", after: "set", needsRestart: false }]);
  expect(JSON.stringify(proposal)).not.toContain("another-token");
  await on.editor.save({ version: on.version, text: text ?? "" });
  expect(await readFile(on.path, "utf8")).toBe(FILE);
});

test.each([
  ["no JSONC", { text: "{ nothing" }, 1],
  ["a wrong value", { text: '{\n  "logging": { "level": "loud" } }' }, 2],
  ["a setting inside of a text", { edits: [{ path: ["logging", "level", "deep"], value: 1 }] }, 1],
])("a change that would be %s has problems with their lines, and is not written", async (_what, change, line) => {
  await using on = await world(FILE);
  const saved = await on.editor.save({ version: on.version, ...change });
  expect(saved).toMatchObject({ written: false, backup: null });
  expect(saved.problems[0]).toMatchObject({ line, column: expect.any(Number), message: expect.stringMatching(/\.$/) });
  expect([await readFile(on.path, "utf8"), await readdir(on.home.path)]).toEqual([FILE, ["pi-gateway.jsonc"]]);
});

test("a file that somebody else has changed meanwhile is left alone, and one that is not there is made", async () => {
  await using on = await world(FILE);
  await writeFile(on.path, "{}");
  for (const ask of ["propose", "save"] as const)
    await expect(on.editor[ask]({ version: on.version, ...LEVEL })).rejects.toMatchObject({ code: "conflict" });
  expect(await readFile(on.path, "utf8")).toBe("{}");
  await using fresh = await world(null);
  expect(await fresh.editor.save({ version: fresh.version, ...LEVEL })).toMatchObject({ written: true, backup: null });
  const made = await readFile(fresh.path, "utf8");
  expect(JSON.parse(made.replaceAll(/^\/\/.*$/gm, ""))).toEqual({ logging: { level: "debug" } });
  expect(made).toStartWith("// Settings of pi-gateway.");
});

test("a file that is gone since it was shown is not made anew from what was seen of it", async () => {
  await using on = await world(FILE);
  await rm(on.path);
  for (const ask of ["propose", "save"] as const)
    await expect(on.editor[ask]({ version: on.version, ...LEVEL })).rejects.toMatchObject({ code: "conflict" });
  expect(await readdir(on.home.path)).toEqual([]);
});

test("a file that somebody else changes while a change of it is checked is left alone, and whoever saves is told", async () => {
  let meanwhile = (): void => undefined;
  await using on = await world(FILE, () => (meanwhile(), defaultConfig()));
  meanwhile = () => writeFileSync(on.path, "{ /* newer */ }");
  await expect(on.editor.save({ version: on.version, ...LEVEL })).rejects.toMatchObject({ code: "conflict" });
  expect([await readFile(on.path, "utf8"), on.reloads]).toEqual(["{ /* newer */ }", []]);
});

test("a change that makes it easier to get in is marked, and one that needs a restart as well", async () => {
  await using on = await world(FILE);
  const edits = [{ path: ["gateway", "auth", "token"] }, { path: ["gateway", "port"], value: 4_000 }];
  const proposal = await on.editor.propose({ version: on.version, edits });
  expect(proposal.weakensAuth).toBe(true);
  expect(proposal.changes).toEqual([
    { path: "gateway.port", before: 18_789, after: 4_000, needsRestart: true },
    { path: "gateway.auth.token", before: "set", after: "not set", needsRestart: false },
  ]);
});

test("a broken file is not shown, and is replaced by nothing but a whole text", async () => {
  await using on = await world("{ broken");
  expect((await on.editor.file()).text).toBeNull();
  expect(await on.editor.save({ version: on.version, ...LEVEL })).toMatchObject({ written: false });
  expect(await on.editor.save({ version: on.version, text: "{}" })).toMatchObject({ written: true });
});

test("of two who save what they saw at the same moment the second is told, and the first one's change stays", async () => {
  await using on = await world(FILE);
  const other = { edits: [{ path: ["queue", "maxTotal"], value: 7 }] };
  const saves = await Promise.allSettled(
    [LEVEL, other].map((change) => on.editor.save({ version: on.version, ...change })),
  );
  expect(saves.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await readFile(on.path, "utf8")).toBe(FILE.replace("warn", "debug"));
  const { version } = await on.editor.file();
  expect(await on.editor.save({ version, ...other })).toMatchObject({ written: true });
});

test("a saved file that the gateway does not take over is written all the same, and why is told", async () => {
  await using on = await world(NOT_TAKEN);
  expect(await on.editor.save({ version: on.version, ...LEVEL })).toMatchObject({
    written: true,
    notInForce: ["The new settings were not taken over."],
  });
});

test("an editor begins with an empty group where there is no file, and is told of a file that cannot be read", async () => {
  await using on = await world(null);
  const text = expect.stringMatching(/^(?:\/\/ [^\n]+\n)+\{\n\}\n$/); // with comments that say what it is for
  expect(await on.editor.file()).toEqual({ path: on.path, text, version: "none" });
  await mkdir(on.path);
  await expect(on.editor.file()).rejects.toMatchObject({ code: "conflict", say: `${on.path} cannot be read.` });
  await expect(on.editor.save({ version: "none", ...LEVEL })).rejects.toMatchObject({ code: "conflict" });
});

test("a comment that comes with an edit stands above the section that the edit brings", async () => {
  await using on = await world(FILE);
  const edits = [{ path: ["backup", "every"], value: "1d", comment: "Copies of everything" }];
  const { text } = await on.editor.propose({ version: on.version, edits });
  expect(text).toMatch(/\/\/ Copies of everything\n +"backup": \{/);
});
