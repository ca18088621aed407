/** The rights of now, for every kind of caller and everything that can be taken away from one. */
import { describe, expect, test } from "bun:test";
import { checkConfigText } from "./config/index.ts";
import { type ApiKey, keyPrincipal } from "./contracts/api-keys.ts";
import type { OutboxRow } from "./contracts/delivery.ts";
import { OPERATOR, type AgentId, type Principal, type Role, type SessionKey, type TurnId } from "./contracts/ids.ts";
import type { RightsHolder } from "./contracts/channels/rights.ts";
import type { LastHeardChat } from "./contracts/store/session-chats.ts";
import { createAccessPolicies } from "./routing/index.ts";
import { createEvents } from "./observe/index.ts";
import { recordingLog } from "./testing/recording-log.ts";
import { createReceiverCheck, createRights, isOwnerNow } from "./rights.ts";

const ANN = "telegram:user:7" as Principal;
const DM = { channel: "telegram", account: "default", chat: "7" };
const GROUP = { ...DM, chat: "-1" };

interface State {
  readonly settings?: object;
  readonly paired?: boolean;
  readonly grants?: readonly [Principal, Role][];
  readonly chat?: Pick<LastHeardChat, "to" | "scope"> | null;
  /** The key of the program, while it is valid. */
  readonly apiKey?: Partial<ApiKey> | null;
}

function rightsOf({ settings = {}, paired = false, grants = [], chat = null, apiKey = null }: State) {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  const events = createEvents({ log: recordingLog() });
  const policies = createAccessPolicies(
    () => config.channels,
    () => paired,
    { of: () => apiKey as ApiKey | null },
  );
  const sessionChats = {
    at: async (sessionKey: SessionKey) => chat && { ...chat, sessionKey, agentId: "default" as AgentId },
  };
  const deps = { events, config: () => config, policies, grants: () => new Map(grants), sessionChats };
  return { events, rights: createRights(deps) };
}

const ann: RightsHolder = {
  principal: ANN,
  role: "owner",
  agentId: "default" as AgentId,
  origin: DM,
  scope: "dm",
  sessionKey: "agent:default:telegram:dm:7" as SessionKey,
  turnId: "t1" as TurnId,
};
const inGroup: RightsHolder = { ...ann, origin: GROUP, scope: "group", role: "member" };
const run = (channel: "cron" | "hook", name: string) => ({
  channel,
  account: "default",
  chat: "agent:default:telegram:dm:7",
  thread: `direct:${name}`,
});
const job: RightsHolder = { ...ann, origin: run("cron", "backup"), cause: "cron" };
const hook: RightsHolder = { ...ann, principal: OPERATOR, origin: run("hook", "deploy"), cause: "webhook" };
const helper: RightsHolder = {
  ...ann,
  agentId: "helper" as AgentId,
  origin: { channel: "delegate", account: "default", chat: "t1" },
  askedBy: ann,
};

const program: RightsHolder = {
  ...ann,
  principal: keyPrincipal("key-1"),
  origin: { channel: "api", account: "default", chat: "key-1.main" },
  sessionKey: "agent:default:api:dm:key-1.main" as SessionKey,
};
const elsewhere: RightsHolder = { ...program, origin: DM };
const helped: RightsHolder = { ...helper, principal: program.principal, askedBy: program };
const chatting = { scopes: ["chat"], agents: ["*"] } as const;

const telegram = (more: object = {}) => ({ channels: { telegram: { dmPolicy: "pairing", ...more } } });
const hooks = (more: object) => ({ hooks: { enabled: true, token: "a-token-of-thirty-two-characters!", ...more } });

/** Who, what holds now, and what is left of a role of `owner` (in groups: `member`). */
const CASES: readonly (readonly [string, RightsHolder, State, Role | null])[] = [
  ["an owner who is still listed", ann, { settings: { roles: { owners: [ANN] } } }, "owner"],
  ["an owner who is a member now", ann, { settings: { roles: { members: [ANN] } } }, "member"],
  ["an owner who was taken out of roles", ann, { settings: telegram() }, null],
  ["an owner by a grant", ann, { grants: [[ANN, "owner"]] }, "owner"],
  ["an owner whose grant was lowered", ann, { grants: [[ANN, "guest"]] }, "guest"],
  ["an owner whose grant was revoked", ann, {}, null],
  ["a program with a key", program, { apiKey: chatting }, "member"],
  [
    "an MCP client with a key",
    { ...program, origin: { ...program.origin, channel: "mcp" } },
    { apiKey: chatting },
    "member",
  ],
  ["a program with a key of an administrator", program, { apiKey: { ...chatting, scopes: ["admin"] } }, "owner"],
  ["a program with a key for another agent", program, { apiKey: { ...chatting, agents: ["helper"] } }, null],
  ["a program whose key was revoked", program, {}, null],
  [
    "a program whose key was revoked, named in the configuration",
    program,
    { settings: { roles: { owners: [program.principal] } } },
    null,
  ],
  [
    "a turn that was asked for by a program whose key was revoked",
    helped,
    { settings: { agents: [{ id: "helper" }] } },
    null,
  ],
  ["a person of a platform whose id looks like that of a key", elsewhere, { apiKey: chatting }, null],
  ["a paired person", ann, { settings: telegram(), paired: true }, "member"],
  ["a person whose pairing was revoked", ann, { settings: telegram() }, null],
  ["a person on the allow list", ann, { settings: telegram({ dmPolicy: "allowlist", allowFrom: ["7"] }) }, "member"],
  ["a person taken off the allow list", ann, { settings: telegram({ dmPolicy: "allowlist", allowFrom: ["8"] }) }, null],
  [
    "a person where direct messages were closed",
    ann,
    { settings: telegram({ dmPolicy: "disabled" }), paired: true },
    null,
  ],
  [
    "a person in a listed group",
    inGroup,
    { settings: { ...telegram({ groups: { "-1": {} } }), roles: { members: [ANN] } } },
    "member",
  ],
  [
    "a person in a group that is no longer listed",
    inGroup,
    { settings: { ...telegram({ groups: { "-2": {} } }), roles: { members: [ANN] } } },
    null,
  ],
  [
    "a person taken out of a group's allow list",
    inGroup,
    { settings: telegram({ groups: { "-1": { allowFrom: ["8"] } } }) },
    null,
  ],
  [
    "a person whose agent gives less now",
    { ...ann, agentId: "quiet" as AgentId },
    { settings: { roles: { owners: [ANN] }, agents: [{ id: "quiet", role: "guest" }] } },
    "guest",
  ],
  [
    "a person whose agent was removed",
    { ...ann, agentId: "gone" as AgentId },
    { settings: { roles: { owners: [ANN] } } },
    null,
  ],
  [
    "a job of a member, from the chat it belongs to",
    job,
    { settings: telegram(), paired: true, chat: { to: DM, scope: "dm" } },
    "member",
  ],
  ["a job of a person who lost access", job, { settings: telegram(), chat: { to: DM, scope: "dm" } }, null],
  [
    "a job of an owner who is a member now",
    job,
    { settings: { roles: { members: [ANN] } }, chat: { to: DM, scope: "dm" } },
    "member",
  ],
  [
    "a job in a group that is no longer listed",
    job,
    { settings: { ...telegram(), roles: { members: [ANN] } }, chat: { to: GROUP, scope: "group" } },
    null,
  ],
  [
    "a webhook with the role of its mapping",
    hook,
    { settings: hooks({ role: "guest", mappings: { deploy: { role: "member", message: "x", signed: false } } }) },
    "member",
  ],
  ["a webhook whose mapping is gone", hook, { settings: hooks({ role: "guest" }) }, "guest"],
  ["a webhook after webhooks were switched off", hook, {}, null],
  [
    "a delegated turn of an owner",
    helper,
    { settings: { roles: { owners: [ANN] }, agents: [{ id: "helper" }] } },
    "owner",
  ],
  [
    "a delegated turn of an owner who is a member now",
    helper,
    { settings: { roles: { members: [ANN] }, agents: [{ id: "helper" }] } },
    "member",
  ],
  ["a delegated turn of a person who lost access", helper, { settings: { agents: [{ id: "helper" }] } }, null],
  [
    "a delegated turn of a paired person",
    helper,
    { settings: { ...telegram(), agents: [{ id: "helper" }] }, paired: true },
    "member",
  ],
  [
    "a delegated turn of a person whose pairing was revoked",
    helper,
    { settings: { ...telegram(), agents: [{ id: "helper" }] } },
    null,
  ],
  [
    "a person whose channel is being loaded anew",
    { ...ann, principal: "irc:user:ann" as Principal, origin: { ...DM, channel: "irc" } },
    {},
    "owner",
  ],
  [
    "a person of another channel, in a chat of a channel that is not there",
    { ...ann, origin: { ...DM, channel: "irc" } },
    {},
    null,
  ],
  [
    "a delegated turn of an agent that gives less now",
    helper,
    { settings: { roles: { owners: [ANN] }, agents: [{ id: "helper", role: "guest" }] } },
    "guest",
  ],
  ["a delegated turn of an agent that was removed", helper, { settings: { roles: { owners: [ANN] } } }, null],
  ["the operator", { ...ann, principal: OPERATOR }, {}, "owner"],
];

describe("the rest of somebody's rights", () => {
  test.each(CASES)("%s", async (_who, caller, state, expected) => {
    const now = await rightsOf(state).rights.now(caller);
    expect(now.kind === "held" ? now.role : null).toBe(expected);
  });

  test("is never more than the work began with", async () => {
    const { rights } = rightsOf({ settings: { roles: { owners: [ANN] } } });
    expect(await rights.now({ ...ann, role: "guest" })).toEqual({ kind: "held", role: "guest" });
    const mappings = { deploy: { role: "member", message: "x", signed: false } };
    const webhooks = rightsOf({ settings: hooks({ role: "guest", mappings }) });
    expect(await webhooks.rights.now({ ...hook, role: "guest" })).toEqual({ kind: "held", role: "guest" });
    const agents = rightsOf({ settings: { roles: { owners: [ANN] }, agents: [{ id: "helper" }] } });
    expect(await agents.rights.now({ ...helper, role: "guest" })).toEqual({ kind: "held", role: "guest" });
  });

  test("of a webhook after webhooks were switched off is nothing, and nobody is told in a chat", async () => {
    const lost = { kind: "lost", because: "webhook_removed", tell: false } as const;
    expect(await rightsOf({}).rights.now(hook)).toEqual(lost);
  });

  test("is not taken for lost because a restart forgot which guild a chat is part of", async () => {
    const guild = {
      channels: { discord: { groupPolicy: "allowlist", guilds: { "111111111111111111": {} } } },
      roles: { members: [ANN] },
    };
    const origin = { channel: "discord", account: "default", chat: "c1" };
    const { rights } = rightsOf({ settings: guild });
    expect(await rights.now({ ...inGroup, origin })).toEqual({ kind: "held", role: "member" });
    expect((await rights.now({ ...inGroup, origin, place: "222222222222222222" })).kind).toBe("lost");
  });

  test("of a delegated turn whose agent was removed is nothing, and the person is told", async () => {
    const { rights } = rightsOf({ settings: { roles: { owners: [ANN] } } });
    expect(await rights.now(helper)).toEqual({ kind: "lost", because: "unknown_agent", tell: true });
  });

  test("is looked at again after every change of configuration, roles and pairings", () => {
    const { events, rights } = rightsOf({});
    let changes = 0;
    const watching = rights.onChange(() => void changes++);
    for (const what of ["config", "pairing", "keys", "jobs"] as const) events.emit("status", { what });
    watching[Symbol.dispose]();
    events.emit("status", { what: "config" });
    expect(changes).toBe(3);
  });
});

describe("who may decide", () => {
  test.each<[string, State, Principal, boolean]>([
    ["the operator", {}, OPERATOR, true],
    ["an owner", { settings: { roles: { owners: [ANN] } } }, ANN, true],
    ["an owner by a grant", { grants: [[ANN, "owner"]] }, ANN, true],
    ["a member", { settings: { roles: { members: [ANN] } } }, ANN, false],
    ["nobody in particular", {}, ANN, false],
  ])("%s: in a chat and without one", async (_who, state, by, expected) => {
    const { rights } = rightsOf(state);
    expect(await isOwnerNow(rights, by, { address: DM, scope: "dm" })).toBe(expected);
    expect(await isOwnerNow(rights, by, null)).toBe(expected);
  });

  test("a person who is an owner in one group decides there and nowhere else", async () => {
    const settings = telegram({ groups: { "-1": { allowFrom: ["7"], role: "owner" } } });
    const { rights } = rightsOf({ settings });
    expect(await isOwnerNow(rights, ANN, { address: GROUP, scope: "group" })).toBe(true);
    expect(await isOwnerNow(rights, ANN, null)).toBe(false);
  });
});

test("an owner in a guild that is listed decides in its channels, and not in those of another guild", async () => {
  const guild = { groupPolicy: "allowlist", guilds: { "111111111111111111": {} } };
  const { rights } = rightsOf({ settings: { channels: { discord: guild }, roles: { owners: [ANN] } } });
  const address = { channel: "discord", account: "default", chat: "c1" };
  const decides = (place: string) => isOwnerNow(rights, ANN, { address, scope: "group", place });
  expect([await decides("111111111111111111"), await decides("222222222222222222")]).toEqual([true, false]);
});

describe("a stored part", () => {
  const row = (kind: "reply" | "notice", to = DM): OutboxRow =>
    ({ to, turnId: "t1", sessionKey: "s", message: { kind, text: "x" } }) as unknown as OutboxRow;
  const check = (state: State, more: { readonly scope?: "dm" | "group"; readonly nobody?: boolean } = {}) => {
    const speaker = more.nobody ? null : { principal: ANN, role: "member" as Role, agentId: "removed" as AgentId };
    const place = more.nobody ? null : ({ scope: more.scope ?? "dm" } as LastHeardChat);
    const sessionChatStore = { speakerOf: async () => speaker, of: async () => place };
    return createReceiverCheck({
      rights: rightsOf(state).rights,
      sessionChatStore,
      isOwnChannel: (id) => ["webchat", "cron"].includes(id),
    });
  };
  const paired = { settings: telegram(), paired: true };

  test.each<[string, ReturnType<typeof check>, readonly [boolean, boolean]]>([
    ["goes to a person with access, whatever became of the agent", check(paired), [true, true]],
    [
      "with a reply does not go to a person without access; a notice does",
      check({ settings: telegram() }),
      [false, true],
    ],
    ["does not go where nothing may be said", check({ settings: telegram({ dmPolicy: "disabled" }) }), [false, false]],
    ["does not go to a group that is no longer listed", check(paired, { scope: "group" }), [false, false]],
    ["goes to a chat in which nobody has spoken", check({}, { nobody: true }), [true, true]],
  ])("%s", async (_what, mayReceive, expected) => {
    expect([await mayReceive(row("reply")), await mayReceive(row("notice"))]).toEqual([...expected]);
  });

  test("of a turn whose speaker is not known goes to the person that its chat belongs to, who has to have access", async () => {
    const sessionChatStore = {
      speakerOf: async () => null,
      of: async () => ({ scope: "dm", principal: ANN }) as LastHeardChat,
    };
    const mayReceive = (state: State) =>
      createReceiverCheck({ rights: rightsOf(state).rights, sessionChatStore, isOwnChannel: () => false });
    expect(await mayReceive(paired)(row("reply"))).toBe(true);
    expect(await mayReceive({ settings: telegram() })(row("reply"))).toBe(false);
  });

  test("to a channel of the gateway itself goes there", async () => {
    expect(await check({})(row("reply", { ...DM, channel: "cron" }))).toBe(true);
  });
});
