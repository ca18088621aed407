/** How each agent's heartbeat is set, and what an owner reads when a provider rejects it. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../../config/index.ts";
import type { AgentId } from "../../contracts/ids.ts";
import { heartbeatsOf, refusalId, refusalText } from "./settings.ts";

function beats(settings: object) {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(problems.map(({ message }) => message).join("\n"));
  return heartbeatsOf(config);
}

test("an agent's heartbeat is as the common settings say, except for its own", () => {
  const own = { enabled: true, every: "2h", activeHours: { start: "09:00", timezone: "Asia/Tokyo" }, retries: 0 };
  const all = beats({
    heartbeat: { enabled: false, every: "10m", skipWhenBusy: false, activeHours: { end: "20:00" } },
    agents: [{ id: "ops", heartbeat: { ...own, prompt: "Look." } }, { id: "plain" }, { id: "quiet", heartbeat: {} }],
  });
  const shared = { enabled: false, every: 600_000, skipWhenBusy: false, activeHours: { end: "20:00" } };
  expect(all).toMatchObject([
    { agentId: "default", ...shared, withoutChecklist: true },
    {
      agentId: "ops",
      enabled: true,
      every: 7_200_000,
      retries: 0,
      prompt: "Look.",
      withoutChecklist: true,
      activeHours: { start: "09:00", timezone: "Asia/Tokyo" },
      skipWhenBusy: false,
    },
    { agentId: "plain", ...shared, withoutChecklist: false },
    { agentId: "quiet", ...shared, withoutChecklist: false },
  ]);
  expect(all[1]?.activeHours).not.toHaveProperty("end"); // hours are taken as a whole
});

test("a time zone that nobody knows is refused at the start, and not found out at every beat", () => {
  const activeHours = { timezone: "Mars/Olympus" };
  expect(() => beats({ heartbeat: { activeHours } })).toThrow(/heartbeat\.activeHours\.timezone is "Mars\/Olympus"/);
  expect(() => beats({ agents: [{ id: "ops", heartbeat: { activeHours } }] })).toThrow(
    /agents\[0\]\.heartbeat\.activeHours\.timezone/,
  );
});

test.each([
  ["provider_auth", "ops", /^The heartbeat of ops does not work: acme rejects the API key\./],
  ["provider_unpaid", "default", /: openai wants to be paid first\./],
  ["provider_refused", "default", /: openai does not accept the request\./],
])("a rejection (%s) of %s is reported with the name of the provider", (code, agentId, expected) => {
  const { config } = checkConfigText(
    JSON.stringify({ agent: { model: "openai/gpt" }, agents: [{ id: "ops", model: "acme/large" }] }),
    () => undefined,
  );
  if (!config) throw new Error("the configuration is not valid");
  expect(refusalText(config, { agentId: agentId as AgentId, code, at: 0 })).toMatch(expected);
});

test("a rejection is told once a day for each agent and each reason", () => {
  const DAY_MS = 86_400_000;
  const id = (agentId: string, code: string, at: number) => refusalId({ agentId: agentId as AgentId, code, at });
  const today = id("ops", "provider_auth", 5 * DAY_MS);
  expect(id("ops", "provider_auth", 6 * DAY_MS - 1)).toBe(today);
  expect([
    ...[id("ops", "provider_auth", 6 * DAY_MS), id("ops", "provider_unpaid", 5 * DAY_MS)],
    id("default", "provider_auth", 5 * DAY_MS),
  ]).not.toContain(today);
});
