/** What files of people may cost, and which agents get them. */
import { expect, test } from "bun:test";
import { checkConfigText, readEnvironment } from "../config/index.ts";
import type { AgentId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import { silentLog } from "../kit/log.ts";
import { tempHome } from "../testing/temp-home.ts";
import { attachedFiles, inboundSettings } from "./way-in.ts";

function configOf(settings: object) {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return config;
}

test.each([
  [{}, false],
  [{ apiKey: "a-key-for-voice-5521" }, true],
  [{ baseUrl: "http://127.0.0.1:9000/v1" }, true],
  [{ apiKey: "a-key-for-voice-5521", enabled: false }, false],
  [{ enabled: true }, true],
])("voice is sent to a service with the settings %j: %p", (transcription, on) => {
  expect(inboundSettings(configOf({ media: { transcription } })).transcription !== null).toBe(on);
});

test.each([
  ["chat", false],
  ["workspace", true],
  [["read"], true],
  [["edit"], false],
])("a file of a person is put into the workspace of an agent with the tools %j: %p", async (tools, placed) => {
  await using home = await tempHome();
  let read = 0;
  const media = { read: async () => (read++, null) } as unknown as Store["media"];
  const folders = { home: home.path, environment: readEnvironment({}) };
  const files = attachedFiles(
    { log: silentLog, store: { media }, config: () => configOf({ agent: { tools } }) },
    folders,
  );
  const about = { mediaId: "m1", mimeType: "text/plain" } as Parameters<typeof files.place>[0];
  await files.place(about, { agentId: "default" as AgentId, role: "owner" });
  expect(read > 0).toBe(placed);
});
