/** With whose rights a job runs, and what is known against a run before anything is spent. */
import { describe, expect, test } from "bun:test";
import { missingKey } from "../../agents/index.ts";
import { checkConfigText, type Environment } from "../../config/index.ts";
import type { Caller } from "../../contracts/agent.ts";
import type { AgentId, Principal, Role, SessionKey } from "../../contracts/ids.ts";
import { createAccessPolicies, type channelPolicy, cronSessionKey, rightsNow } from "../../routing/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { job } from "../../testing/automation/job-fixture.ts";
import { createTimes } from "../times/times.ts";
import { createRunRights, type RunRightsDeps } from "./run-rights.ts";

const ANN = "telegram:user:7" as Principal;
const to = { channel: "telegram", account: "default", chat: "7" };
const chat = {
  sessionKey: "agent:default:telegram:dm:7" as SessionKey,
  agentId: "default" as AgentId,
  to,
  scope: "dm",
} as const;

function rights(
  settings: object,
  more: {
    readonly trouble?: string;
    readonly environment?: object;
    readonly grants?: [Principal, Role][];
    readonly channels?: Parameters<typeof channelPolicy>[0];
    readonly paired?: boolean;
    readonly asked?: Caller[];
    readonly ask?: RunRightsDeps["budget"]["ask"];
  } = {},
) {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  const asked: Caller[] = more.asked ?? [];
  const policies = createAccessPolicies(
    () => more.channels ?? config.channels,
    () => more.paired ?? false,
  );
  const environment = { providerKeys: {}, ...more.environment } as Environment;
  return createRunRights({
    clock: createFakeClock(),
    times: createTimes(() => "UTC"),
    config: () => config,
    budget: { ask: more.ask ?? (() => ({ may: true })) },
    roleOf({ createdBy: principal, role, agentId }, { to: at, scope }) {
      const rules = { config, policies, grants: new Map(more.grants ?? []) };
      const now = rightsNow({ principal, role, agentId, at, scope }, rules);
      return now.kind === "held" ? now.role : null;
    },
    sessionOf: cronSessionKey,
    channels: new Map([["telegram", {}]]),
    agentTrouble: () => more.trouble ?? null,
    missingKey: (agentId) => missingKey(config, environment, agentId),
    unusable(tool, caller) {
      asked.push(caller);
      return tool === "web_search" ? null : "this agent has no such tool";
    },
  });
}

describe("a run has the lesser of what its maker had and has", () => {
  test.each<[Role, object, Role | null]>([
    ["owner", { roles: { owners: [ANN] } }, "owner"],
    ["owner", { roles: { members: [ANN] } }, "member"],
    ["member", { roles: { owners: [ANN] } }, "member"],
    ["owner", {}, null],
  ])("made as %s, now %j: %p", (then, settings, expected) => {
    expect(rights(settings).roleOf(job({ createdBy: ANN, role: then }), chat)).toBe(expected);
  });

  test("a role that an owner gave from a chat counts as well, and the agent's own limit too", () => {
    const made = job({ createdBy: ANN, role: "owner" });
    expect(rights({}, { grants: [[ANN, "owner"]] }).roleOf(made, chat)).toBe("owner");
    const limited = { roles: { owners: [ANN] }, agents: [{ id: "quiet", role: "guest" }] };
    expect(rights(limited).roleOf({ ...made, agentId: "quiet" as AgentId }, chat)).toBe("guest");
  });
});

describe("a run has the rights that its creator has in the chat the job belongs to", () => {
  const made = job({ createdBy: ANN, role: "member" });
  const channels = { telegram: { dmPolicy: "pairing", groupPolicy: "allowlist", groups: { "-1": {} } } } as const;

  test("a paired person's job runs, and stops running when the pairing is revoked", () => {
    expect(rights({}, { channels, paired: true }).roleOf(made, chat)).toBe("member");
    expect(rights({}, { channels, paired: false }).roleOf(made, chat)).toBeNull();
  });

  test("a member's job in a listed group runs, and stops running when the group is no longer listed", () => {
    const group = (id: string) => ({ ...chat, to: { ...to, chat: id }, scope: "group" as const });
    const settings = { roles: { members: [ANN] } };
    expect(rights(settings, { channels }).roleOf(made, group("-1"))).toBe("member");
    expect(rights(settings, { channels }).roleOf(made, group("-2"))).toBeNull();
  });
});

describe("before anything is spent", () => {
  test("a run is asked about on the account of its maker, as what begins by itself", () => {
    const asked: unknown[] = [];
    const ask: RunRightsDeps["budget"]["ask"] = (work) => {
      asked.push(work);
      return { may: false, because: "no money", say: "" } as ReturnType<RunRightsDeps["budget"]["ask"]>;
    };
    expect(rights({}, { ask }).unpaid(job({ createdBy: ANN }))).toBe("no money");
    expect(asked).toEqual([{ agentId: "default", principal: ANN, origin: "cron" }]);
  });
  test("a job that could work is let go", () => {
    expect(rights({}).unable(job(), chat)).toBeNull();
  });
  test.each<[string, object, object, Partial<Parameters<typeof job>[0]>, RegExp]>([
    ["agents do not start", {}, { trouble: "pi was not found." }, {}, /pi was not found/],
    ["its agent is gone", {}, {}, { agentId: "gone" as AgentId }, /no agent called gone/],
    ["the place it posts to is gone", {}, {}, { webhook: "ops" }, /no such webhook in hooks\.targets/],
    [
      "it runs more often than its creator's role may now",
      { roles: { members: [ANN] } },
      {},
      { createdBy: ANN, schedule: { kind: "every", expr: "1s" } },
      /more often than every 5m/,
    ],
    ["its provider has no key", { agent: { model: "anthropic/claude" } }, {}, {}, /no API key for anthropic/],
    [
      "a tool it needs is not there",
      {},
      {},
      { needs: ["web_search", "fax"] },
      /needs the tool fax, and cannot have it/,
    ],
  ])("a job is held back when %s", (...[, settings, more, about, because]) => {
    expect(rights(settings, more).unable(job(about), chat)).toMatch(because);
  });
  test("the tools a job needs are asked for with the rights its run will have", () => {
    const asked: Caller[] = [];
    const settings = { agents: [{ id: "ops", role: "guest" }] };
    const about = { createdBy: ANN, agentId: "ops" as AgentId, needs: ["web_search"] };
    const owners = { ...settings, roles: { owners: [ANN] } };
    expect(rights(owners, { asked }).unable(job(about), chat)).toBeNull();
    expect(rights(owners, { asked }).unable(job({ ...about, mode: "main" }), chat)).toBeNull();
    expect(asked).toMatchObject([
      { principal: ANN, role: "guest", agentId: "ops", cause: "cron", sessionKey: "agent:ops:cron:water:run:check" },
      { principal: ANN, agentId: "default", cause: "cron", sessionKey: chat.sessionKey },
    ]);
  });
  test("a job is held back when its channel is not open, unless it is silent", () => {
    const elsewhere = { ...chat, to: { ...to, channel: "discord" } };
    expect(rights({}).unable(job(), elsewhere)).toMatch(/discord.*not open/);
    expect(rights({}).unable(job({ delivery: "silent" }), elsewhere)).toBeNull();
  });
});
