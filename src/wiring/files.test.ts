/** Which agents get the files of people. */
import { expect, test } from "bun:test";
import { mkdir, readdir, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { checkConfigText, readEnvironment } from "../config/index.ts";
import type { AgentId, Principal } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import { silentLog } from "../kit/log.ts";
import { personFolder } from "../kit/person-folder.ts";
import { tempHome } from "../testing/temp-home.ts";
import type { Core } from "./core.ts";
import { createWorkspaceFiles } from "./files.ts";

function configOf(settings: object) {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return config;
}

const ANN = { agentId: "default" as AgentId, role: "owner", principal: "web:user:ann" as Principal } as const;
const FILE = { mediaId: "m1", mimeType: "text/plain" } as Parameters<
  ReturnType<typeof createWorkspaceFiles>["place"]
>[0];

function filesOf(home: string, agent: object, read: () => Promise<Buffer | null>) {
  const media = { read } as unknown as Store["media"];
  const sandbox = { report: () => ({ tier: "full" }) } as Core["options"]["sandbox"];
  const options = { home, environment: readEnvironment({}), sandbox } as Core["options"];
  return createWorkspaceFiles({ log: silentLog, store: { media }, config: () => configOf({ agent }), options });
}

test.each([
  ["chat", false],
  ["workspace", true],
  [["read"], true],
  [["bash"], true],
  [["edit"], false],
])("a file of a person is put into the workspace of an agent with the tools %j: %p", async (tools, placed) => {
  await using home = await tempHome();
  let read = 0;
  const files = filesOf(home.path, { tools }, async () => (read++, null));
  await files.place(FILE, ANN);
  expect(read > 0).toBe(placed);
});

test("a file that comes before a person's first process is put into their own workspace, and through no link", async () => {
  await using home = await tempHome();
  const files = filesOf(home.path, { workspace: { scope: "person" } }, async () => Buffer.from("text"));
  expect(await files.place(FILE, ANN)).toBe("attachments/m1.txt");
  const own = personFolder(join(home.path, "workspace"), ANN.principal);
  expect([await readdir(own), (await stat(own)).mode & 0o777]).toEqual([["attachments"], 0o700]);
  await rm(own, { recursive: true });
  await mkdir(join(home.path, "elsewhere"));
  await symlink(join(home.path, "elsewhere"), own);
  expect(await files.place(FILE, ANN)).toBeNull();
  expect(await readdir(join(home.path, "elsewhere"))).toEqual([]);
});
