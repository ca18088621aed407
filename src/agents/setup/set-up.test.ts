/** Decisions before a start: which model, which pi, which folder, which words are kept back. */
import { describe, expect, test } from "bun:test";
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Config, readEnvironment } from "../../config/index.ts";
import { secret } from "../../kit/secret.ts";
import { poolOptions } from "../../testing/agent-fixture.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { PLACEHOLDER_KEY } from "../../contracts/model-door.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { agentFolders, prepareFolders } from "./agent-folder.ts";
import { findPi } from "./find-pi.ts";
import { heldLogins } from "./held-logins.ts";
import { type ModelChoice, chooseModel } from "./model-choice.ts";
import { redact } from "../process/redact.ts";
import { createStartRecord } from "../start-record.ts";
import { asPlainText } from "../talk/prompt-fields.ts";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const local = (apiKey?: string): Config["models"] => ({
  keys: {},
  providers: {
    "my-local": {
      baseUrl: "http://127.0.0.1:1/v1",
      api: "openai-completions" as never,
      ...(apiKey === undefined ? {} : { apiKey: secret(apiKey) }),
      models: [{ id: "m1", reasoning: false, input: ["text"], contextWindow: 32_000, maxTokens: 4_096, cost }],
    },
  },
});
const none: Config["models"] = { keys: {}, providers: {} };

describe("the model that answers", () => {
  const choose = (agent: Partial<Config["agent"]>, models: Config["models"], env: Record<string, string>) => {
    const { config } = poolOptions("/home", agent, models);
    const choice = chooseModel({ agent: config, models }, readEnvironment(env));
    const keys = "access" in choice ? Object.keys(choice.access.variables) : [];
    const name = "provider" in choice ? `${choice.provider}/${"model" in choice ? choice.model : "*"}` : "";
    return [choice.kind, name, keys];
  };
  const key = { ANTHROPIC_API_KEY: "k1", OPENAI_API_KEY: "k2" };

  test("is the demo when there is no key, no login and no endpoint", () => {
    expect(choose({}, none, {})).toEqual(["demo", "", []]);
  });
  test("is the configured one, and only its provider's variable goes along", () => {
    expect(choose({ model: "openai/gpt-x" }, none, key)).toEqual(["configured", "openai/gpt-x", ["OPENAI_API_KEY"]]);
  });
  test("may have slashes in its own name", () => {
    expect(choose({ model: "openrouter/a/b" }, none, {})).toEqual(["configured", "openrouter/a/b", []]);
  });
  test("is the first endpoint of the configuration when none is named", () => {
    expect(choose({}, local("secret-key"), key)).toEqual(["configured", "my-local/m1", []]);
  });
  test("is pi's choice of the provider whose key is in the environment", () => {
    expect(choose({}, none, key)).toEqual(["provider-default", "anthropic/*", ["ANTHROPIC_API_KEY"]]);
  });
  test("is what a given pi folder is logged in to", () => {
    expect(choose({ agentDir: "/somewhere/pi" }, none, key)[0]).toBe("login");
  });
  test("is the demo when it is asked for by name", () => {
    expect(choose({ model: "gwdemo/demo" }, none, key)).toEqual(["demo", "", []]);
  });
});

describe("a login that the agent holds itself", () => {
  const held = (agent: Partial<Config["agent"]>, env: Record<string, string>) => {
    const { config } = poolOptions("/home", agent, none);
    return heldLogins({ agent: config, agents: [], models: none }, readEnvironment(env));
  };
  test.each([
    ["a pi folder", { agentDir: "/their/pi" }, {}, "The agent default holds this login itself: pi's folder /their/pi."],
    [
      "credentials that are more than a key",
      { model: "amazon-bedrock/x" },
      { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
      "The agent default holds this login itself: the credentials of amazon-bedrock.",
    ],
  ])("is told in the status: %s", (_name, agent, env, sentence) => {
    expect(held(agent, env)).toEqual([expect.stringContaining(sentence)]);
  });
  test.each([
    ["a key", { model: "openai/x" }, { OPENAI_API_KEY: "k" }],
    ["the demo model", {}, {}],
  ])("is not told about %s", (_name, agent, env) => {
    expect(held(agent, env)).toEqual([]);
  });
});

describe("the agent folder", () => {
  const folder = ["agent"];

  test("has a placeholder where the key would be", async () => {
    await using home = await tempHome();
    const options = { ...poolOptions(home.path, { thinking: "high" as never }, local("very-secret-key")), folder };
    const choice = chooseModel({ agent: options.config, models: options.models }, options.environment);
    await prepareFolders(agentFolders(options), options, choice);
    const [settings, models] = await Promise.all(
      ["settings.json", "models.json"].map(async (name) =>
        JSON.parse(await readFile(join(home.path, "agent", name), "utf8")),
      ),
    );
    expect(settings).toMatchObject({
      defaultProvider: "my-local",
      defaultModel: "m1",
      defaultThinkingLevel: "high",
      retry: { maxRetries: 2 },
    });
    expect(models.providers["my-local"]).toMatchObject({
      apiKey: PLACEHOLDER_KEY,
      models: [{ id: "m1", name: "m1" }],
    });
    expect((await stat(join(home.path, "agent", "models.json"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(home.path, "workspace"))).mode & 0o777).toBe(0o700);
  });

  test("of somebody else is not written to", async () => {
    await using home = await tempHome();
    const agentDir = join(home.path, "their-pi");
    await mkdir(agentDir);
    await writeFile(join(agentDir, "settings.json"), "theirs");
    const options = { ...poolOptions(home.path, { agentDir }, none), folder };
    const choice: ModelChoice = { kind: "login", agentDir, because: "test" };
    await prepareFolders(agentFolders(options), options, choice);
    expect(await readFile(join(agentDir, "settings.json"), "utf8")).toBe("theirs");
    expect(await stat(join(agentDir, "models.json")).catch(() => "missing")).toBe("missing");
  });

  test("in the owner's home may be written with a tilde", () => {
    const options = poolOptions("/state", { agentDir: "~/.pi/agent" }, none);
    const environment = readEnvironment({ HOME: "/home/owner" });
    expect(agentFolders({ ...options, folder, environment }).agentDir).toBe("/home/owner/.pi/agent");
  });
});

describe("finding pi", () => {
  const options = { execPath: "/nowhere/bun", environment: { path: "", piPath: null }, bun: ["bun"] };

  test("takes the installed package when nothing is named", () => {
    const found = findPi({ ...options, piPath: undefined });
    expect(found.kind === "found" && found.argv.at(-1)?.endsWith("dist/bundle/rpc-entry.js")).toBe(true);
  });

  test("takes a named executable as it is, a script with Bun, and a package folder by its entry", async () => {
    await using home = await tempHome();
    const bundle = join(home.path, "dist", "bundle");
    await mkdir(bundle, { recursive: true });
    for (const name of ["rpc-entry.js", "cli.js"]) await writeFile(join(bundle, name), "");
    await writeFile(join(home.path, "pi-native"), "");
    await symlink(join(bundle, "cli.js"), join(home.path, "pi"));
    const argv = (piPath: string) => {
      const found = findPi({ ...options, piPath });
      return found.kind === "found" ? found.argv : found.say;
    };
    expect(argv(home.path)).toEqual(["bun", join(bundle, "rpc-entry.js")]);
    expect(argv(join(home.path, "pi"))).toEqual(["bun", join(bundle, "rpc-entry.js")]);
    expect(argv(join(home.path, "pi-native"))).toEqual([join(home.path, "pi-native"), "--mode", "rpc"]);
  });

  test("takes what PI_GATEWAY_PI names, unless agent.piPath names another, and does not look elsewhere", async () => {
    await using home = await tempHome();
    const [variable, setting] = ["by-variable", "by-setting"].map((name) => join(home.path, name));
    for (const path of [variable, setting]) await writeFile(path ?? "", "");
    const environment = { path: "", piPath: variable ?? "" };
    expect(findPi({ ...options, environment, piPath: undefined })).toMatchObject({ file: variable });
    expect(findPi({ ...options, environment, piPath: setting })).toMatchObject({ file: setting });
    const gone = findPi({ ...options, environment: { path: "", piPath: "/nowhere/pi" }, piPath: undefined });
    expect(gone).toMatchObject({ say: "PI_GATEWAY_PI cannot be used: /nowhere/pi does not exist." });
    expect(gone.looked.length).toBe(1);
  });

  test("refuses a named file that every user can change, and does not look elsewhere", async () => {
    await using home = await tempHome();
    const piPath = join(home.path, "pi");
    await writeFile(piPath, "");
    await chmod(piPath, 0o666);
    const found = findPi({ ...options, piPath });
    expect(found.kind === "missing" && found.say).toContain("can be changed by every user");
    expect(found.looked.length).toBe(1);
  });
});

describe("starting again after failures", () => {
  test("waits longer each time, and is hopeless after three", async () => {
    const clock = createFakeClock();
    const record = createStartRecord(clock);
    const state = () => [record.mayStart(), record.hopeless()?.code ?? null];
    const fail = () => record.failed(new GatewayError("agent_unavailable", "it fell over"));
    expect(fail()).toBe("The assistant does not start: it fell over");
    expect(state()).toEqual([false, null]);
    await clock.advance(250);
    expect(record.mayStart()).toBe(true);
    fail();
    await clock.advance(250);
    expect(record.mayStart()).toBe(false);
    fail();
    expect(state()).toEqual([false, "agent_unavailable"]);
    expect([record.succeeded(), record.trouble(), record.hopeless()]).toEqual([true, null, null]);
  });

  test("is held back as well when processes die while idle right after their start", async () => {
    const clock = createFakeClock();
    const record = createStartRecord(clock);
    record.diedResting(50);
    expect(record.mayStart()).toBe(false);
    let allowed = false;
    record.whenAllowed(() => (allowed = true), new AbortController().signal);
    await clock.advance(250);
    expect(allowed).toBe(true);
  });
});

test.each([
  ["/compact", " /compact"],
  ["  /x", "   /x"],
  ["\n/x", " \n/x"],
  ["hello /x", "hello /x"],
  ["", ""],
])("%p is sent as %p", (text, sent) => {
  expect(asPlainText(text)).toBe(sent);
});

test("secrets are taken out of an agent's last words", () => {
  const text = "key my-secret-value, sk-ant-abcdefghijklmnop and Bearer abcdefghijklmnop";
  expect(redact(text, ["my-secret-value", ""])).toBe("key [redacted], [redacted] and [redacted]");
});

test("pi's settings that an agent has changed, removed or replaced by a link are written again before the next start", async () => {
  await using home = await tempHome();
  const secret = join(home.path, "secret");
  await writeFile(secret, "kept");
  const options = { ...poolOptions(home.path, {}, none), folder: ["agent"] };
  const folders = agentFolders(options);
  const { restore } = await prepareFolders(folders, options, { kind: "demo", because: "test" });
  const path = join(folders.agentDir, "settings.json");
  const wanted = await readFile(path, "utf8");
  const changes = [
    () => writeFile(path, "{}"),
    () => rm(path),
    async () => (await rm(path), await symlink(secret, path)),
  ];
  for (const change of changes) {
    await change();
    await restore();
    expect(await readFile(path, "utf8")).toBe(wanted);
  }
  expect(await readFile(secret, "utf8")).toBe("kept");
  expect(
    [folders.promptFile, folders.bunConfig, folders.compilerConfig].filter((file) =>
      file.startsWith(folders.agentDir + "/"),
    ),
  ).toEqual([]);
});
