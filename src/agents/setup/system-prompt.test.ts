/** The instructions of an agent: which parts are in it, in which order, and that the same settings give the same bytes. */
import { describe, expect, test } from "bun:test";
import { NOTHING_ADDED } from "../../testing/agent-fixture.ts";
import { type GatewayFeatures, NO_FEATURES, type PromptSettings, systemPrompt } from "./system-prompt.ts";

const ALL: GatewayFeatures = { heartbeat: true, cron: true, media: true };
const prompt = (changes: Partial<PromptSettings> = {}, features = NO_FEATURES) =>
  systemPrompt({ ...NOTHING_ADDED, ...changes }, features);
const mentions = (text: string) => ["HEARTBEAT_OK", "Scheduled jobs", "send_media"].map((word) => text.includes(word));

describe("the instructions", () => {
  test("are a short persona and the form of the gateway's blocks when nothing is set", () => {
    expect(prompt()).toStartWith("You are a helpful personal assistant.");
    expect(prompt()).toContain("<gateway-facts CODE>");
    expect(prompt().length).toBeLessThan(1_800);
  });

  test("begin with the owner's words in place of the persona, and end with what the owner adds", () => {
    const text = prompt({ systemPrompt: "Be a pirate.", appendSystemPrompt: "Stay polite." }, ALL);
    expect(text).toMatch(/^Be a pirate\.\n\nBlocks in [^]*\n\nHeartbeat: [^]*\n\nStay polite\.\n$/);
    expect(text).not.toContain("personal assistant");
  });

  test.each<[string, Partial<GatewayFeatures>, boolean[]]>([
    ["nothing", {}, [false, false, false]],
    ["heartbeat", { heartbeat: true }, [true, false, false]],
    ["cron", { cron: true }, [false, true, false]],
    ["media", { media: true }, [false, false, true]],
  ])("speak of %s only when it is there", (_name, features, expected) => {
    expect(mentions(prompt({}, { ...NO_FEATURES, ...features }))).toEqual(expected);
  });

  test("leave a part out, or say it in the owner's words, as agent.gatewayPrompts asks", () => {
    const text = prompt({ gatewayPrompts: { heartbeat: false, cron: "Jobs are mine.", media: true } }, ALL);
    expect(mentions(text)).toEqual([false, false, true]);
    expect(text).toContain("\n\nJobs are mine.\n\n");
  });

  test("do not say the owner's words about something that is not there", () => {
    expect(prompt({ gatewayPrompts: { heartbeat: true, cron: "Jobs are mine.", media: true } })).toBe(prompt());
  });

  test("do not offer a tool that the agent's list leaves out", () => {
    expect(mentions(prompt({ tools: ["web_search"] }, ALL))[2]).toBe(false);
    expect(mentions(prompt({ tools: ["send_media"] }, ALL))[2]).toBe(true);
  });

  test("tell an agent with a shell that nothing it starts outlives the turn, and no other agent", () => {
    const told = (tools: NonNullable<PromptSettings["tools"]>) => prompt({ tools }).includes("ends with your turn");
    const everybody = ["full", ["bash"], "workspace", "files", "chat", ["read"]] as const;
    expect(everybody.map(told)).toEqual([true, true, true, false, false, false]);
  });

  test.each<[string, Partial<PromptSettings>, string | null]>([
    ["no host", { network: "none" }, 'agent.network is "none"'],
    [
      "listed hosts",
      { network: { allow: ["a.example", "b.example:8443"] } },
      "these hosts, through the proxy that is set in the environment: a.example, b.example:8443.",
    ],
    ["hosts that an owner is asked about", { network: { allow: [], ask: true } }, "every other host an owner is asked"],
    ["public hosts", { network: "all" }, "reaches public hosts"],
    [
      "twenty hosts of more",
      { network: { allow: Array.from({ length: 25 }, (_, at) => `h${at}.example`) } },
      "h19.example and 5 more.",
    ],
    ["nothing about it without a shell", { network: "none", tools: "files" }, null],
    ["nothing about it without a wall", { network: "none", sandbox: "off" }, null],
  ])("tell an agent in the sandbox what its shell reaches: %s", (_name, changes, expected) => {
    const text = prompt({ tools: "workspace", ...changes });
    if (expected === null) expect(text).not.toContain("Network:");
    else expect(text).toContain(expected);
  });

  test("say nothing about hosts to an agent that has the machine's network", () => {
    const settings = { ...NOTHING_ADDED, tools: "workspace" as const };
    expect([false, true].map((own) => systemPrompt(settings, NO_FEATURES, own).includes("Network:"))).toEqual([
      true,
      false,
    ]);
  });

  test("are the same bytes for the same settings", () => {
    expect(new Set(Array.from({ length: 3 }, () => prompt({ appendSystemPrompt: "x" }, ALL))).size).toBe(1);
  });
});
