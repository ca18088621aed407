import { expect, test } from "bun:test";
import { checkConfigText } from "./check/check.ts";
import { settingRows } from "./setting-rows.ts";

test("each setting says whether the file, the start or a default sets it, and shows no secret", () => {
  const text = `{
  "gateway": { "auth": { "token": "a-token-of-at-least-22-characters" } },
  // folders
  "agent": { "skills": ["~/x"], "pool": { "min": 1 } }
}`;
  const { config } = checkConfigText(text, () => undefined);
  if (!config) throw new Error("the settings are not valid");
  const started = { ...config, gateway: { ...config.gateway, port: 4_000 } };
  const rows = new Map(settingRows(started, text).map((row) => [row.path, row]));
  expect(rows.get("gateway.port")).toEqual({
    path: "gateway.port",
    value: 4_000,
    source: "start",
    byDefault: 18_789,
    needsRestart: true,
  });
  expect(rows.get("gateway.auth.token")).toMatchObject({ value: "set", source: "file", line: 2, byDefault: "not set" });
  expect(rows.get("agent.skills")).toMatchObject({ value: ["~/x"], source: "file", line: 4, needsRestart: false });
  expect(rows.get("agent.pool.min")).toMatchObject({ source: "file", byDefault: 1 }); // also when it says what the default says
  expect(rows.get("logging.level")).toMatchObject({ source: "default" });
  expect(JSON.stringify([...rows.values()])).not.toContain("a-token-of");
});
