import { expect, test } from "bun:test";
import { checkConfigText, defaultConfig } from "./check/check.ts";
import { settingRows } from "./setting-rows.ts";

const NONE = () => undefined;

test("each setting says whether the file, the start or a default sets it, and shows no secret", () => {
  const text = `{
  "gateway": { "auth": { "token": "a-token-of-at-least-22-characters" } },
  // folders
  "agent": { "skills": ["~/x"], "pool": { "min": 1 } }
}`;
  const { config } = checkConfigText(text, () => undefined);
  if (!config) throw new Error("the settings are not valid");
  const started = { ...config, gateway: { ...config.gateway, port: 4_000 } };
  const rows = new Map(settingRows(started, text, NONE).map((row) => [row.path, row]));
  expect(rows.get("gateway.port")).toEqual({
    path: "gateway.port",
    value: 4_000,
    form: { kind: "number", isWhole: true, minimum: 0, maximum: 65_535 },
    about: "TCP port for everything. 0 picks a free one.",
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

test("each setting says what it takes, also when it is not set", () => {
  const config = checkConfigText('{ "agents": [{ "id": "papers" }] }', () => undefined).config ?? defaultConfig();
  const rows = new Map(settingRows(config, null, NONE).map((row) => [row.path, row]));
  const kind = (path: string) => rows.get(path)?.form;
  expect(kind("logging.level")).toMatchObject({ kind: "choice", choices: expect.arrayContaining(["debug", "info"]) });
  expect(kind("cron.enabled")).toEqual({ kind: "flag" });
  expect(kind("heartbeat.every")).toEqual({ kind: "duration", text: "30m" });
  expect(kind("gateway.auth.token")).toEqual({ kind: "secret" });
  expect(kind("agents")).toEqual({ kind: "json", inFileOnly: true });
  expect(kind("gateway.allowedHosts")).toEqual({ kind: "json", inFileOnly: false });
  expect(kind("models.keys")).toEqual({ kind: "json", inFileOnly: true });
  expect(rows.get("agent.model")).toMatchObject({
    value: null,
    form: { kind: "text", expects: 'text such as "provider/model", of at most 200 characters', maxLength: 200 },
    source: "default",
  });
  expect([...rows.values()].filter(({ about }) => about === "").map(({ path }) => path)).toEqual([]);
});

test("settings that an entry of the file leaves out are defaults, and not from the start", () => {
  const text = '{ "models": { "providers": { "mine": { "baseUrl": "http://host/v1", "models": [{ "id": "m" }] } } } }';
  const config = checkConfigText(text, NONE).config ?? defaultConfig();
  const rows = new Map(settingRows(config, text, NONE).map((row) => [row.path, row.source]));
  expect(rows.get("models.providers.mine.baseUrl")).toBe("file");
  expect(rows.get("models.providers.mine.api")).toBe("default");
});

test("settings of a plugin are one row that the file sets, at the line where they begin", () => {
  const text = '{\n  "plugins": { "config": { "weather": {\n    "city": "Oslo" } } }\n}';
  const config = checkConfigText(text, NONE).config ?? defaultConfig();
  const rows = settingRows(config, text, NONE).filter(({ path }) => path.startsWith("plugins.config"));
  expect(rows).toMatchObject([{ path: "plugins.config.weather", value: "set", source: "file", line: 3 }]);
});

test("a setting that the file writes and the start overrides is one of the start, with the line of the file", () => {
  const text = '{ "gateway": { "port": 5000 } }';
  const { config } = checkConfigText(text, NONE);
  if (!config) throw new Error("the settings are not valid");
  const started = { ...config, gateway: { ...config.gateway, port: 4_000 } };
  const row = settingRows(started, text, NONE).find(({ path }) => path === "gateway.port");
  expect(row).toMatchObject({ value: 4_000, source: "start", line: 1, byDefault: 18_789 });
});
