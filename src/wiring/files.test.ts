/** Which agents get the files of people. */
import { expect, test } from "bun:test";
import { checkConfigText, readEnvironment } from "../config/index.ts";
import type { AgentId, Principal } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import { silentLog } from "../kit/log.ts";
import { tempHome } from "../testing/temp-home.ts";
import type { Core } from "./core.ts";
import { createWorkspaceFiles } from "./files.ts";

function configOf(settings: object) {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return config;
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
  const media = { read: async () => (read++, null) } as unknown as Store["media"];
  const sandbox = { report: () => ({ tier: "full" }) } as Core["options"]["sandbox"];
  const options = { home: home.path, environment: readEnvironment({}), sandbox } as Core["options"];
  const config = () => configOf({ agent: { tools } });
  const files = createWorkspaceFiles({ log: silentLog, store: { media }, config, options });
  const about = { mediaId: "m1", mimeType: "text/plain" } as Parameters<typeof files.place>[0];
  await files.place(about, { agentId: "default" as AgentId, role: "owner", principal: "web:user:ann" as Principal });
  expect(read > 0).toBe(placed);
});
