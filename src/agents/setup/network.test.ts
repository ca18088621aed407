import { expect, test } from "bun:test";
import type { NetworkSetting } from "../../contracts/egress.ts";
import { readEnvironment } from "../../config/index.ts";
import { poolOptions } from "../../testing/agent-fixture.ts";
import { chooseModel } from "./model-choice.ts";
import { callsItself, networkFor } from "./network.ts";

const LISTED: NetworkSetting = { allow: ["example.org"] };

test.each<[Parameters<typeof networkFor>[0], ReturnType<typeof networkFor>["by"], "open" | "closed"]>([
  [{ tier: "none", setting: "none", callsItself: false }, "machine", "open"],
  [{ tier: "none", setting: "all", callsItself: false }, "machine", "open"],
  [{ tier: "full", setting: "none", callsItself: false }, "relay", "closed"],
  [{ tier: "full", setting: LISTED, callsItself: false }, "relay", "closed"],
  [{ tier: "full", setting: "all", callsItself: false }, "relay", "closed"],
  [{ tier: "basic", setting: "none", callsItself: false }, "nothing", "closed"],
  [{ tier: "basic", setting: LISTED, callsItself: false }, "ports", "closed"],
  [{ tier: "full", setting: "none", callsItself: true }, "machine", "open"],
  [{ tier: "basic", setting: "all", callsItself: true }, "machine", "open"],
])("a process with %j reaches others by %s, its network %s", (situation, by, confined) => {
  expect(networkFor(situation)).toMatchObject({ by, confined });
});

const environment = readEnvironment({ OPENAI_API_KEY: "k", AWS_ACCESS_KEY_ID: "a" });
test.each([
  ["a key that the gateway puts in", { model: "openai/x" }, false],
  ["the demo model", { model: "gwdemo/demo" }, false],
  ["a pi login", { agentDir: "/their/pi" }, true],
  ["a pi login of a provider without a key here", { agentDir: "/their/pi", model: "anthropic/x" }, true],
  ["credentials that are more than a key", { model: "amazon-bedrock/x" }, true],
  ["a provider that an extension of pi brings", { model: "of-an-extension/x" }, true],
])("a process calls its provider itself where the model door does not serve it: %s", (_name, agent, expected) => {
  const models = { keys: {}, providers: {} };
  const { config } = poolOptions("/home", agent, models);
  expect(callsItself(chooseModel({ agent: config, models }, environment))).toBe(expected);
});
