/** Table tests of the check: exact places, exact words, nearest names, variables and the rules between settings. */
import { describe, expect, test } from "bun:test";
import { checkConfigText, type Config, findPosition, formatProblem } from "../index.ts";

const none = () => undefined;
const TOKEN = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";

const lines = (text: string, variables: (name: string) => string | undefined = none) =>
  checkConfigText(text, variables).problems.map((problem) => formatProblem(problem, "pi-gateway.jsonc"));

const warnings = (text: string) =>
  checkConfigText(text, none).warnings.map((problem) => formatProblem(problem, "pi-gateway.jsonc"));

function configOf(text: string, variables: (name: string) => string | undefined = none): Config {
  const { config, problems } = checkConfigText(text, variables);
  if (!config) throw new Error(JSON.stringify(problems));
  return config;
}

describe("a good file", () => {
  test("gets every default it does not set", () => {
    const config = configOf("{}");
    expect(config.gateway).toEqual({
      port: 18789,
      bind: "loopback",
      auth: { mode: "token" },
      allowedHosts: [],
      trustedProxies: [],
      insecure: false,
      commands: { restart: false },
      stopGraceMs: 30_000,
    });
    expect(config.agent.pool).toEqual({
      min: 1,
      idleMs: 300_000,
      maxSwitches: 500,
      maxAgeMs: 21_600_000,
      maxRssMb: 400,
      reuse: "principal",
      waitMs: 120_000,
    });
    expect(config.models.providers).toEqual({});
  });

  test("may have comments, trailing commas, a byte order mark and Windows line ends", () => {
    const text = '\ufeff{\r\n  // the port\r\n  "gateway": { "port": 1234, /* here */ },\r\n}\r\n';
    expect(configOf(text).gateway.port).toBe(1234);
  });

  test("writes durations as milliseconds or with a unit", () => {
    const text = '{"agent": {"timeoutMs": "2h", "pool": {"idleMs": 1500, "waitMs": "250ms"}}}';
    expect(configOf(text).agent).toMatchObject({ timeoutMs: 7_200_000, pool: { idleMs: 1500, waitMs: 250 } });
  });

  test("takes a secret as it is written, white space included", () => {
    const provider = { baseUrl: "http://127.0.0.1:1/v1", apiKey: " a key ", models: [{ id: "m" }] };
    const { models } = configOf(JSON.stringify({ models: { providers: { own: provider } } }));
    expect(models.providers["own"]?.apiKey?.reveal()).toBe(" a key ");
  });

  test("has defaults of its own, which no other load shares", () => {
    const [one, other] = [configOf("{}"), configOf("{}")];
    expect(one).toEqual(other);
    for (const key of ["allowedHosts", "trustedProxies"] as const)
      expect(one.gateway[key]).not.toBe(other.gateway[key]);
    expect(one.models.providers).not.toBe(other.models.providers);
  });

  test("keeps its secrets wrapped", () => {
    const config = configOf(`{"gateway": {"auth": {"token": "${TOKEN}"}}}`);
    expect(config.gateway.auth.token?.reveal()).toBe(TOKEN);
    expect(JSON.stringify(config)).not.toContain(TOKEN);
  });

  test("describes an endpoint in three keys", () => {
    const provider = '{"baseUrl": "http://127.0.0.1:11434/v1", "models": [{"id": "qwen3:4b"}]}';
    const config = configOf(`{"models": {"providers": {"local": ${provider}}}, "agent": {"model": "local/qwen3:4b"}}`);
    expect(config.models.providers.local?.models).toEqual([
      {
        id: "qwen3:4b",
        reasoning: false,
        input: ["text"],
        contextWindow: 32_000,
        maxTokens: 4_096,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      },
    ]);
  });
});

describe("a wrong value is reported with its place and what it must be", () => {
  const cases: readonly [name: string, text: string, line: string][] = [
    [
      "whole number",
      '{\n  // port\n  "gateway": {\n    "port": "abc"\n  }\n}',
      '4:13 gateway.port is "abc"; it must be a whole number from 0 to 65535.',
    ],
    [
      "fraction",
      '{"queue": {"maxTotal": 1.5}}',
      "1:24 queue.maxTotal is 1.5; it must be a whole number from 1 to 100000.",
    ],
    ["too large", '{"media": {"maxMb": 26}}', "1:21 media.maxMb is 26; it must be a whole number from 1 to 25."],
    [
      "past every number",
      '{"media": {"maxMb": 1e400}}',
      "1:21 media.maxMb is Infinity; it must be a whole number from 1 to 25.",
    ],
    [
      "choice",
      '{"logging": {"level": "wran"}}',
      '1:23 logging.level is "wran"; it must be one of "debug", "info", "warn" or "error". Did you mean "warn"?',
    ],
    [
      "choice of two",
      '{"gateway": {"auth": {"mode": "none"}}}',
      '1:31 gateway.auth.mode is "none"; it must be "token" or "password".',
    ],
    ["yes or no", '{"logging": {"file": "yes"}}', '1:22 logging.file is "yes"; it must be true or false.'],
    [
      "duration",
      '{"agent": {"timeoutMs": "5 minutes"}}',
      '1:25 agent.timeoutMs is "5 minutes"; it must be a whole number of milliseconds from 1000 to 2073600000, or text such as "30s", "5m" or "2h".',
    ],
    [
      "duration that no timer can hold",
      '{"agent": {"timeoutMs": "25d"}}',
      '1:25 agent.timeoutMs is "25d"; it must be a whole number of milliseconds from 1000 to 2073600000, or text such as "30s", "5m" or "2h".',
    ],
    ["group", '{"queue": [1]}', "1:11 queue is a list of 1 item; it must be an object in { }."],
    ["null", '{"queue": null}', "1:11 queue is null; it must be an object in { }."],
    [
      "list",
      '{"gateway": {"allowedHosts": "a.example"}}',
      '1:30 gateway.allowedHosts is "a.example"; it must be a list in [ ] of at most 32 items, each text of 1 to 255 characters.',
    ],
    [
      "entry of a list",
      '{"gateway": {"allowedHosts": ["a.example", 5]}}',
      "1:44 gateway.allowedHosts[1] is 5; it must be text of 1 to 255 characters.",
    ],
    [
      "missing",
      '{"models": {"providers": {"x": {"models": [{"id": "a"}]}}}}',
      "1:32 models.providers.x.baseUrl is missing; it must be an address that begins with http:// or https://.",
    ],
    [
      "empty list",
      '{"models": {"providers": {"x": {"baseUrl": "http://h", "models": []}}}}',
      "1:66 models.providers.x.models is an empty list; it must be a list in [ ] of 1 to 200 items, each an object in { }.",
    ],
    [
      "name",
      '{"models": {"providers": {"My Box": {}}}}',
      '1:27 models.providers."My Box" is not a usable name. Begin with a small letter or a digit, then small letters, digits, _ or -, at most 64 in all.',
    ],
    ["twice", '{\n"queue": {},\n"queue": {}\n}', "3:1 queue is written twice. Keep one of them."],
    [
      "twice in a group",
      '{"gateway": {"auth": {\n"mode": "token",\n "mode": "token"\n}}}',
      "3:2 gateway.auth.mode is written twice. Keep one of them.",
    ],
    [
      "twice in an entry of a list",
      '{"agents": [{"id": "a"}, {"id": "b",\n"id": "b"}]}',
      "2:1 agents[1].id is written twice. Keep one of them.",
    ],
    ["empty file", "  // nothing\n", "1:1 The file is empty. Write {} to use the defaults, or delete the file."],
    ["not a group", "[]", "1:1 The file must hold one group of settings in { }."],
    ["word", '{"queue": foo}', "1:11 There is a word here that is not JSON. Texts need double quotes."],
    ["number without its end", '{"a": 1.}', "1:7 This is not valid JSON."],
    ["value", '{"a": }', "1:7 A value is expected here."],
    ["colon", '{"a" 1}', "1:6 A colon is missing here."],
    ["list without its end", '{"a": [1', "1:9 A closing ] is missing."],
    ["second group", "{} {}", "1:4 The file should end before this."],
    ["comment without its end", "{ /* ", "1:3 A comment that begins with /* is not closed."],
    ["text without its end", '{"a": "x', "1:7 A text is not closed with a double quote."],
    ["half of an escape", '{"a": "\\u12"}', "1:7 A \\u escape in this text is not complete."],
    [
      "backslash before a letter",
      '{"a": "\\q"}',
      "1:7 A backslash in this text is followed by something it cannot stand before. Write \\\\ for one backslash.",
    ],
    [
      "control character",
      '{"a": "\x01"}',
      "1:7 This text holds a control character. Write it as an escape, such as \\n.",
    ],
    ["comma", '{\n  "queue": {}\n  "media": {}\n}', "3:3 A comma is missing before this."],
    ["end", '{"queue": {', "1:12 A closing } is missing."],
  ];
  test.each(cases)("%s", (_name, text, line) => {
    expect(lines(text)[0]).toBe(`pi-gateway.jsonc:${line}`);
  });

  test.each(["\n", "\r\n", "\r"])("in lines that end with %j", (end) => {
    expect(lines(`{${end}"media":${end} {"maxMb": 0}}`)[0]).toStartWith("pi-gateway.jsonc:3:12 media.maxMb is 0;");
  });

  test("all of them at once, in the order of the file", () => {
    const text = '{\n"media": {"maxMb": 0},\n"gateway": {"port": -1, "auth": {"token": "short"}}\n}';
    expect(lines(text)).toEqual([
      "pi-gateway.jsonc:2:20 media.maxMb is 0; it must be a whole number from 1 to 25.",
      "pi-gateway.jsonc:3:21 gateway.port is -1; it must be a whole number from 0 to 65535.",
      "pi-gateway.jsonc:3:43 gateway.auth.token is too short; it must have at least 22 characters. Leave it out and the gateway makes a good one at its first start.",
    ]);
  });

  test("at the group that is written, where the setting itself is not", () => {
    const text = '{"agent": {"skills": ["/skills/one"]},\n "agents": [\n   {"id": "a", "tools": "chat"}]}';
    expect(warnings(text)).toEqual([expect.stringMatching(/^pi-gateway\.jsonc:3:4 agents\[0\]\.skills /)]);
  });

  test("a file over the size or depth limit is refused before it is parsed", () => {
    expect(lines(`{"agent": {"systemPrompt": "${"x".repeat(1024 * 1024)}"}}`)).toEqual([
      "pi-gateway.jsonc:1:1 The file is larger than 1024 KiB. Move long texts elsewhere.",
    ]);
    expect(lines(`{} // ${"ä".repeat(600 * 1024)}`)).toHaveLength(1); // its size is that of its bytes
    expect(lines("[".repeat(500_000))).toEqual(["pi-gateway.jsonc:1:33 Brackets are nested more than 32 deep here."]);
  });
});

describe("an unknown key", () => {
  test("in a security section is a problem with the nearest name", () => {
    expect(lines('{\n  "gateway": { "prot": 1 }\n}')).toEqual([
      "pi-gateway.jsonc:2:16 gateway.prot is not a setting. Did you mean gateway.port?",
    ]);
  });

  test("below a security section is a problem too", () => {
    expect(lines('{"gateway": {"auth": {"tokn": "s3cret-value"}}}')).toEqual([
      "pi-gateway.jsonc:1:23 gateway.auth.tokn is not a setting. Did you mean gateway.auth.token?",
    ]);
  });

  test("elsewhere is a warning, and the key is dropped", () => {
    const text = '{"queue": {"maxTotl": 7}}';
    expect(warnings(text)).toEqual([
      "pi-gateway.jsonc:1:12 queue.maxTotl is not a setting. Did you mean queue.maxTotal? It was ignored.",
    ]);
    expect(configOf(text).queue).toMatchObject({ maxTotal: 500 });
    expect(configOf(text).queue).not.toHaveProperty("maxTotl");
  });

  test("that belongs to another section is led there", () => {
    expect(warnings('{"agent": {"min": 2}}')[0]).toContain("Did you mean agent.pool.min?");
    expect(warnings('{"agent": {"retentionDays": 2}}')[0]).toContain("Did you mean logging.retentionDays?");
  });

  test("that misspells a security section is a problem, because its settings would silently not count", () => {
    expect(lines('{"gatway": {"port": 1}}')).toEqual([
      "pi-gateway.jsonc:1:2 gatway is not a setting. Did you mean gateway?",
    ]);
  });

  test("with nothing near gets no suggestion", () => {
    expect(warnings('{"zebra": 1}')).toEqual(["pi-gateway.jsonc:1:2 zebra is not a setting. It was ignored."]);
  });

  test.each(["__proto__", "constructor", "prototype"])("named %s is never assigned", (key) => {
    const text = `{"${key}": {"x": 1}, "queue": {"${key}": {"x": 1}}, "models": {"providers": {"${key}": {"x": 1}}}}`;
    const config = configOf(text);
    expect(warnings(text)).toHaveLength(3);
    expect(Object.keys(config.models.providers)).toEqual([]);
    expect(Object.getPrototypeOf(config.queue)).toBe(Object.prototype);
    expect("x" in config.queue).toBe(false);
  });

  test.each(["__proto__", "constructor", "prototype"])("named %s does not reach a plugin, however deep", (key) => {
    const group = `{"${key}": {"x": 1}, "kept": 1}`;
    const config = configOf(
      `{"plugins": {"config": {"mine": {"${key}": {"x": 1}, "group": ${group}, "list": [${group}]}}}}`,
    );
    expect(JSON.stringify(config.plugins.config)).toBe('{"mine":{"group":{"kept":1},"list":[{"kept":1}]}}');
  });

  test("with control characters cannot disturb a terminal", () => {
    expect(warnings('{"\\u001b[2J\\u202e": 1}')[0]).toBe(
      'pi-gateway.jsonc:1:2 "\\u001b[2J\ufffd" is not a setting. It was ignored.',
    );
  });
});

describe("a secret never appears in a problem", () => {
  test.each([
    '{"gateway": {"auth": {"token": "hunter2"}}}',
    '{"gateway": {"auth": "hunter2"}}',
    '{"gateway": {"auth": {"tokne": "hunter2"}}}',
    '{"gateway": {"auth": {"password": "hunter2", "mode": "password"}}}',
    '{"gateway": {"token": "hunter2", "auth": {"token": "hunter2"}}}',
    '{"models": {"providers": {"x": "hunter2"}}}',
    '{"models": {"providers": {"x": {"baseUrl": "ftp://me:hunter2@host", "models": [{"id": "a"}]}}}}',
    '{"agent": {"model": "${KEY}"}}',
    '{"gateway": {"auth": {"token": "hunter2',
  ])("%s", (text) => {
    const { config, problems, warnings: warned } = checkConfigText(text, () => "hunter2");
    expect(config).toBeNull();
    expect(JSON.stringify([problems, warned])).not.toContain("hunter2");
  });

  test("an empty one is called empty, and so is any other text that must not be", () => {
    expect(lines('{"gateway": {"auth": {"token": ""}, "allowedHosts": [""]}}')).toEqual([
      "pi-gateway.jsonc:1:32 gateway.auth.token is empty; it must be text of at least 1 character.",
      "pi-gateway.jsonc:1:54 gateway.allowedHosts[0] is empty; it must be text of 1 to 255 characters.",
    ]);
  });

  test("a number in its place is hidden as well", () => {
    expect(lines('{"gateway": {"auth": {"token": 123456}}}')).toEqual([
      "pi-gateway.jsonc:1:32 gateway.auth.token is (hidden); it must be text of at least 1 character.",
    ]);
  });
});

describe("${NAME} in a text", () => {
  const variables = (name: string) =>
    ({ TOKEN, PORT: "8080", WAIT: "5000", EVIL: '"}, "insecure": true, "x": {"', LEVEL: "loud" })[name];

  test("is replaced by the environment variable", () => {
    const config = configOf(
      '{"gateway": {"auth": {"token": "${TOKEN}"}}, "agent": {"workspace": "/w/${PORT}/x"}}',
      variables,
    );
    expect(config.gateway.auth.token?.reveal()).toBe(TOKEN);
    expect(config.agent.workspace).toBe("/w/8080/x");
  });

  test("may stand for a whole number", () => {
    const config = configOf('{"gateway": {"port": "${PORT}"}, "agent": {"pool": {"waitMs": "${WAIT}"}}}', variables);
    expect([config.gateway.port, config.agent.pool.waitMs]).toEqual([8080, 5000]);
  });

  test("stays text where text is wanted, though it looks like a number", () => {
    expect(configOf('{"agent": {"systemPrompt": "${PORT}"}}', variables).agent.systemPrompt).toBe("8080");
  });

  test("a number written as text is not a number", () => {
    expect(lines('{"gateway": {"port": "8080"}}')).toHaveLength(1);
  });

  test("cannot bring in settings of its own", () => {
    const config = configOf('{"agent": {"systemPrompt": "${EVIL}"}}', variables);
    expect(config.agent.systemPrompt).toBe('"}, "insecure": true, "x": {"');
    expect(config.gateway.insecure).toBe(false);
  });

  test("is a problem that names the variable when it is not set", () => {
    expect(lines('{"agent": {"workspace": "${NOPE}"}}', variables)).toEqual([
      "pi-gateway.jsonc:1:25 agent.workspace uses ${NOPE}, but that environment variable is not set. Set it, or write the value here.",
    ]);
  });

  test("is a problem when it is not complete, and $${ is a literal ${", () => {
    expect(lines('{"agent": {"workspace": "a ${ b"}}')).toEqual([
      'pi-gateway.jsonc:1:25 agent.workspace has "${" without a variable name and "}" after it. Write "$${" for a literal "${".',
    ]);
    expect(configOf('{"agent": {"workspace": "a $${b} ${PORT}"}}', variables).agent.workspace).toBe("a ${b} 8080");
  });

  test("shows the name and not what the variable holds when the value does not fit", () => {
    expect(lines('{"logging": {"level": "${LEVEL}"}}', variables)).toEqual([
      'pi-gateway.jsonc:1:23 logging.level is "${LEVEL}" from the environment; it must be one of "debug", "info", "warn" or "error".',
    ]);
  });

  test("gets no suggestion, which would show what the variable holds", () => {
    const near = (name: string) => (name === "LEVEL" ? "wran" : undefined);
    expect(lines('{"logging": {"level": "${LEVEL}"}}', near).join()).not.toContain("Did you mean");
  });

  test("is not looked for in keys", () => {
    expect(warnings('{"${PORT}": 1}')[0]).toContain('"${PORT}" is not a setting');
  });
});

test.each([
  [["queue", "maxTotal"], "4:15"],
  [["queue", "maxTotal", "deeper"], "4:15"],
  [["queue", "mode"], "4:1"],
  [["gateway", "allowedHosts", "1"], "2:44"],
  [["gateway", "allowedHosts", "9"], "2:30"],
  [["media", "maxMb"], "1:1"],
])("the place of %j in a text, or of what is written around it, is %s", (path, place) => {
  const text = '{\n"gateway": { "allowedHosts": ["a.example", "b.example"] },\n"queue":\n{ "maxTotal": 7 } }';
  for (const written of [text, `\ufeff${text}`]) {
    const found = findPosition(written, path);
    expect(`${found?.line}:${found?.column}`).toBe(place);
  }
  expect(findPosition("[", path)).toBeNull();
});
