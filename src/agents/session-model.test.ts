import { DEFAULT_AGENT } from "../contracts/ids.ts";
import { describe, expect, test } from "bun:test";
import { checkConfigText, type Environment, readEnvironment } from "../config/index.ts";
import { agentProfiles, profileKey, profileSignature } from "./profile.ts";
import { choiceForSession, profileForModel } from "./session-model.ts";
import { chooseModel } from "./setup/model-choice.ts";
import { modelSettings } from "./talk/session.ts";

const ENVIRONMENT: Environment = readEnvironment({ OPENAI_API_KEY: "key-of-openai", GROQ_API_KEY: "key-of-groq" });
const LOCAL = { baseUrl: "http://127.0.0.1:1/v1", apiKey: "key-of-local", models: [{ id: "small" }, { id: "large" }] };

function world(agent: object) {
  const { config } = checkConfigText(
    JSON.stringify({ agent, models: { providers: { local: LOCAL } } }),
    () => undefined,
  );
  const profile = config && agentProfiles(config).get(profileKey(DEFAULT_AGENT, "owner"));
  if (!config || !profile) throw new Error("the test's own configuration is not valid");
  const own = chooseModel(config, ENVIRONMENT);
  const wanted = (model?: string) => profileForModel(profile, own, model);
  const providers = (model: string) => {
    const found = wanted(model);
    if (found.kind === "own") return "own";
    const choice = choiceForSession(found, config.models, ENVIRONMENT);
    return "access" in choice ? choice.access.providers : choice.kind;
  };
  return { wanted, providers };
}

describe("a session", () => {
  test("without a model of its own, or with another one of the same provider, is served by its agent's processes", () => {
    const { wanted } = world({ model: "openai/gpt" });
    expect(wanted()).toEqual({ kind: "own", because: "no_wish" });
    expect(wanted("openai/other")).toEqual({ kind: "own", because: "same_provider" });
  });

  test.each([
    ["groq/fast", ["groq"]],
    ["local/large", ["local"]],
    ["gwdemo/demo", "demo"],
    ["mistral/no-key-here", []],
    ["openai/other", "own"],
  ])("of another provider is served by processes that may call that provider alone: %s", (model, providers) => {
    expect(world({ model: "openai/gpt" }).providers(model)).toEqual(providers);
  });

  test("shares processes with others of the same provider, and with nobody else", () => {
    const { wanted } = world({ model: "openai/gpt" });
    const signature = (model: string) => {
      const found = wanted(model);
      return found.kind === "own" ? "own" : profileSignature(found.profile).hard;
    };
    expect(signature("groq/fast")).toBe(signature("groq/slow"));
    expect(new Set([signature("groq/fast"), signature("local/small"), signature("openai/x")]).size).toBe(3);
  });

  test("of an agent whose pi folder is somebody else's is served by processes for exactly its model", () => {
    const { wanted } = world({ agentDir: "/somewhere" });
    expect(wanted("groq/fast")).toMatchObject({ kind: "model", profile: { config: { model: "groq/fast" } } });
  });

  test.each(["../etc/passwd", "/x", "a b/c", "UP/x", ".hidden/x", "no-slash"])(
    "cannot name a folder by its provider: %s",
    (model) => expect(() => world({ model: "openai/gpt" }).wanted(model)).toThrow("is not the name of a model"),
  );
});

describe("the model and thinking level of a session", () => {
  const agent = { model: "a/b", thinking: "low" };
  test.each([
    [{}, { model: "a/b", thinking: "low" }],
    [{ thinking: "high" }, { model: "a/b", thinking: "high" }],
    [{ model: "a/c" }, { model: "a/c", thinking: "medium" }],
    [
      { model: "a/c", defaultThinking: "minimal" },
      { model: "a/c", thinking: "minimal" },
    ],
    [
      { model: "a/c", thinking: "off" },
      { model: "a/c", thinking: "off" },
    ],
    [{ model: "a/" }, { model: "a/b", thinking: "low" }],
  ] as const)("%j", (request, expected) => {
    expect(modelSettings(agent, { defaultThinking: undefined, ...request })).toEqual(expected);
  });
});
