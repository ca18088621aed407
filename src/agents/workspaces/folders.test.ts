/** Whose folders are, from the settings: of an agent, of a role, and of several that work in the same one. */
import { expect, test } from "bun:test";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkConfigText, type Config } from "../../config/index.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { scopeChanges, workspaceFolders } from "./folders.ts";
import { refuseLinkedFolder } from "./person-folder.ts";

const machine = { home: "/state", environment: { userHome: "/home/ann" } };

function settings(value: unknown): Config {
  const { config, problems } = checkConfigText(JSON.stringify(value), () => undefined);
  if (config === null) throw new Error(JSON.stringify(problems));
  return config;
}

const SHARED = settings({});
const PERSONAL = settings({ agent: { workspace: { scope: "person" } } });

test("the folder of the standard settings is everybody's, and each person's with the scope person", () => {
  expect(workspaceFolders(SHARED, machine)).toEqual([{ path: "/state/workspace", scope: "agent" }]);
  expect(workspaceFolders(PERSONAL, machine)).toEqual([{ path: "/state/workspace", scope: "person" }]);
});

test.each([
  ["an agent", { agents: [{ id: "coder", workspace: { scope: "person" } }] }],
  ["a role", { roles: { profiles: { guest: { workspace: { scope: "person" } } } } }],
])("a folder in which %s alone has the scope person is mixed", (_name, value) => {
  expect(workspaceFolders(settings(value), machine)).toEqual([{ path: "/state/workspace", scope: "mixed" }]);
});

test("an agent with a folder of its own has a scope of its own", () => {
  const config = settings({ agents: [{ id: "coder", workspace: { path: "~/code", scope: "person" } }] });
  expect(workspaceFolders(config, machine)).toEqual([
    { path: "/state/workspace", scope: "agent" },
    { path: "/home/ann/code", scope: "person" },
  ]);
});

test.each([
  [SHARED, PERSONAL, ["workspace/ of the state directory"]],
  [PERSONAL, SHARED, ["workspace/ of the state directory"]],
  [PERSONAL, PERSONAL, []],
  [SHARED, settings({ agent: { workspace: { path: "~/new", scope: "person" } } }), []],
  [
    settings({ agent: { workspace: "~/new" } }),
    settings({ agent: { workspace: { path: "~/new", scope: "person" } } }),
    ["~/new"],
  ],
  [SHARED, settings({ agents: [{ id: "coder", workspace: { scope: "person" } }] }), []],
  [
    settings({ agents: [{ id: "coder", workspace: { scope: "person" } }] }),
    PERSONAL,
    ["workspace/ of the state directory"],
  ],
])("a change of settings (case %#) changes whose these folders are", (before, after, expected) => {
  expect(scopeChanges(before, after)).toEqual(expected);
});

test("a person's folder that is a link or a file, or lies below one, is refused; one that is missing is not", async () => {
  await using home = await tempHome();
  const outcome = (...parts: readonly string[]) =>
    refuseLinkedFolder(join(home.path, ...parts)).then(
      () => "used",
      (error: unknown) => (error as { code: string }).code,
    );
  await mkdir(join(home.path, "real", "ann"), { recursive: true });
  await symlink(join(home.path, "real"), join(home.path, "linked"));
  await symlink(join(home.path, "real", "ann"), join(home.path, "real", "bob"));
  await writeFile(join(home.path, "real", "file"), "");
  expect(await outcome("real", "ann")).toBe("used");
  expect(await outcome("real", "new")).toBe("used");
  expect(await outcome("nowhere", "new")).toBe("used");
  for (const parts of [
    ["linked", "ann"],
    ["real", "bob"],
    ["real", "file"],
    ["real", "file", "below"],
  ])
    expect(await outcome(...parts)).toBe("home_unusable");
});
