/** The fence around a plugin's channel, piece by piece: each service with somebody else's name, each field of a channel, each rule of access. */
import { expect, test } from "bun:test";
import { SendError } from "../contracts/channel.ts";
import type { PluginChannelDeps } from "../contracts/channels/channel-kit.ts";
import type { ChannelAccessSettings } from "../contracts/channels/access.ts";
import type { OpenChannel, PlatformDeps } from "../contracts/channels/platform.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { accessOf, checkPlugin, fenced } from "./plugin-platform.ts";

const NEVER = new AbortController().signal;
const HERE = { channel: "pigeon", account: "main", chat: "1" };
const OTHER = { ...HERE, channel: "telegram" };
const pip = { principal: "pigeon:user:7", name: "Pip" };
const eve = { principal: "telegram:user:7", name: "Eve" };

const pigeon = (more: object = {}): OpenChannel =>
  ({
    id: "pigeon",
    account: "main",
    canRefuse: true,
    repeat: "deduplicated",
    dedupeMs: 60_000,
    whenLost: "hold",
    send: async () => ({ providerId: "p1" }),
    ready: () => true,
    health: () => ({ ok: true, detail: "flies" }),
    [Symbol.asyncDispose]: async () => undefined,
    ...more,
  }) as unknown as OpenChannel;

/** What reached the gateway through the fence, and how many listeners are left. */
async function opened(channels: readonly OpenChannel[] = [pigeon()]) {
  const calls: string[] = [];
  const state = { listening: 0, ended: 0 };
  const service =
    (name: string) =>
    async (...given: readonly unknown[]) => {
      calls.push([name, ...given.filter((one) => typeof one === "string")].join(" "));
      return null;
    };
  const services = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, service(name)]));
  const on = () => {
    state.listening++;
    return { [Symbol.dispose]: () => void (state.ended++, state.listening--) };
  };
  const deps = {
    log: recordingLog(),
    events: { on, emit: () => undefined },
    door: services(["look", "receive", "react", "typing"]),
    questions: services(["answer", "answerAnywhere"]),
    facts: services(["get", "put", "forget", "list"]),
  } as unknown as PlatformDeps;
  let inside = null as PluginChannelDeps | null;
  const platform = fenced({ id: "pigeon", open: async (given) => ((inside = given), channels) });
  const open = await platform.open(deps, NEVER);
  if (inside === null) throw new Error("not opened");
  return { inside: inside as PluginChannelDeps, open, calls, state };
}

type Use = (deps: PluginChannelDeps, whose: { at: typeof HERE; by: typeof pip }) => unknown;
const USES: readonly [string, Use][] = [
  ["look", ({ door }, { at, by }) => door.look({ address: at, sender: by } as never)],
  ["receive", ({ door }, { at, by }) => door.receive({ address: at, sender: by, quoted: [] } as never, NEVER)],
  ["react", ({ door }, { at, by }) => door.react({ address: at, sender: by } as never)],
  ["typing", ({ door }, { at, by }) => door.typing({ address: at, sender: by } as never)],
  ["answer", ({ questions }, { at, by }) => questions.answer("q", {} as never, { ...by, at } as never)],
  ["answerAnywhere", ({ questions }, { at, by }) => questions.answerAnywhere("q", {} as never, { ...by, at } as never)],
];

test.each(USES)(
  "a plugin's channel can %s for its own people in its own chats, and for nobody else",
  async (name, use) => {
    const { inside, calls } = await opened();
    await use(inside, { at: HERE, by: pip });
    expect(calls.map((call) => call.split(" ")[0])).toEqual([name]);
    for (const whose of [
      { at: OTHER, by: pip },
      { at: HERE, by: eve },
      { at: HERE, by: { ...pip, principal: "pigeon" } },
      { at: HERE, by: { ...pip, principal: "pigeons:user:7" } },
    ])
      await expect((async () => use(inside, whose))()).rejects.toThrow("nobody else");
    expect(calls).toHaveLength(1);
  },
);

test("a plugin's channel remembers things under its own name, for each account, and under no other", async () => {
  const { inside, calls } = await opened();
  const ways = (channel: string): (() => Promise<unknown>)[] => [
    () => inside.facts.get(channel, "main", "k"),
    () => inside.facts.put(channel, "main", "k", "v"),
    () => inside.facts.forget(channel, "main", "k"),
    () => inside.facts.list(channel, "main", "k"),
  ];
  for (const way of ways("pigeon")) await way();
  for (const way of ways("telegram")) await expect(way()).rejects.toThrow("its own name only");
  expect(calls).toEqual(["get pigeon main k", "put pigeon main k v", "forget pigeon main k", "list pigeon main k"]);
});

test("a plugin's channel hands in no message that does not say which words are its sender's own", async () => {
  const { inside, calls } = await opened();
  for (const quoted of [undefined, "", {}])
    await expect(inside.door.receive({ address: HERE, sender: pip, quoted } as never, NEVER)).rejects.toThrow("quoted");
  expect(calls).toEqual([]);
});

test("a plugin's channel listens until it is closed, and each listener is ended once", async () => {
  const { inside, open, state } = await opened();
  inside.events.on("status", () => undefined);
  inside.events.on("approval", () => undefined);
  expect(state).toEqual({ listening: 2, ended: 0 });
  for (let times = 0; times < 2; times++) await open[0]?.[Symbol.asyncDispose]();
  expect(state).toEqual({ listening: 0, ended: 2 });
});

test("a plugin's channel keeps each of its fields, its abilities on itself, and nothing that is none", async () => {
  const channel = pigeon({
    secret: 1,
    pin: "no function",
    react() {
      return Promise.resolve({ kind: "done", because: String((this as unknown as { secret: number }).secret) });
    },
    messages: { delivered: () => 3, skip: () => true },
    questions: { maxButtons: 0, maxLabelChars: 9, show: () => "shown", more: 1 },
    webhook: { path: "/pigeon/in", handle: () => ({ status: 200 }), hosts: ["bot.example"] },
  });
  const { open } = await opened([channel]);
  const [one] = open;
  expect(Object.keys(one ?? {}).toSorted()).toEqual(
    [
      ...["account", "canRefuse", "dedupeMs", "health", "id", "messages", "questions", "react", "ready", "repeat"],
      ...["send", "webhook", "whenLost"],
    ].toSorted(),
  );
  expect(one).toMatchObject({
    id: "pigeon",
    account: "main",
    canRefuse: true,
    repeat: "deduplicated",
    dedupeMs: 60_000,
    whenLost: "hold",
    questions: { maxButtons: 0, maxLabelChars: 9 },
    webhook: { path: "/pigeon/in", hosts: ["bot.example"] },
  });
  expect(one?.health()).toEqual({ ok: true, detail: "flies" });
  expect(await one?.react?.({} as never, {} as never, NEVER)).toMatchObject({ because: "1" } as never);
  expect([await one?.messages?.delivered({} as never, NEVER), await one?.messages?.skip({} as never, NEVER)]).toEqual([
    3,
    true,
  ]);
  const plain = await opened([pigeon({ dedupeMs: undefined, whenLost: undefined })]);
  expect(Object.keys(plain.open[0] ?? {}).filter((key) => key === "dedupeMs" || key === "whenLost")).toEqual([]);
});

test.each([
  [true, true],
  [false, false],
  ["yes", false],
  [1, false],
  [undefined, false],
])("a plugin's channel that says %p is ready: %p", async (said, ready) => {
  const { open } = await opened([pigeon({ ready: () => said })]);
  expect(open[0]?.ready(HERE)).toBe(ready);
});

test("a plugin's channel that says nothing about a send has sent it", async () => {
  const { open } = await opened([pigeon({ send: async () => undefined })]);
  expect(await open[0]?.send({} as never, NEVER)).toEqual({});
});

const thrown = (fields: object): Error => Object.assign(new Error("full"), fields);
test.each([
  [
    { name: "SendError", kind: "limited", retryAfterMs: 7 },
    { kind: "limited", retryAfterMs: 7 },
  ],
  [
    { name: "SendError", kind: "limited", retryAfterMs: "7" },
    { kind: "limited", retryAfterMs: undefined },
  ],
  [
    { name: "SendError", kind: "permanent" },
    { kind: "permanent", retryAfterMs: undefined },
  ],
  [{ name: "SendError", kind: "never" }, null],
  [{ name: "TypeError", kind: "permanent" }, null],
])("a plugin's channel that throws %p has said how a send failed: %p", async (fields, expected) => {
  const error = thrown(fields);
  const { open } = await opened([pigeon({ send: () => Promise.reject(error) })]);
  const caught: unknown = await open[0]?.send({} as never, NEVER).catch((one: unknown) => one);
  if (expected === null) return expect(caught).toBe(error);
  expect(caught).toBeInstanceOf(SendError);
  const { kind, retryAfterMs, message, cause } = caught as SendError;
  expect({ kind, retryAfterMs, message, cause }).toEqual({ ...expected, message: "full", cause: error } as never);
});

test.each([
  ["no list", "no list of channels", "pigeon"],
  ["another id", "a channel called crow", [pigeon({ id: "crow" })]],
  ["an account without a name", "two accounts", [pigeon({ account: 7 })]],
  ["two accounts of one name", "two accounts", [pigeon(), pigeon()]],
  ["no way to send", "without send", [pigeon({ send: undefined })]],
  ["no way to close", "without Symbol(Symbol.asyncDispose)", [pigeon({ [Symbol.asyncDispose]: undefined })]],
  ["questions without a limit of buttons", "questions", [pigeon({ questions: { show: () => 1, maxLabelChars: 1 } })]],
  [
    "questions with half a button",
    "questions",
    [pigeon({ questions: { show: () => 1, maxButtons: 0.5, maxLabelChars: 1 } })],
  ],
  ["questions without a limit of letters", "questions", [pigeon({ questions: { show: () => 1, maxButtons: 1 } })]],
  ["questions that are not shown", "questions", [pigeon({ questions: { maxButtons: 1, maxLabelChars: 1 } })]],
  ["a webhook beside its own path", "a webhook outside", [pigeon({ webhook: { path: "/pigeons/in" } })]],
  [
    "a webhook for hosts that are no list",
    "hosts",
    [pigeon({ webhook: { path: "/pigeon/in", hosts: "bot.example" } })],
  ],
])("a plugin's channel with %s is not opened", async (_what, words, channels) => {
  await expect(opened(channels as never)).rejects.toThrow(words);
});

test.each([
  ["p".repeat(32), true],
  ["p".repeat(33), false],
  ["p-1", true],
  ["1p", false],
  ["-p", false],
  ["P", false],
  ["p_1", false],
  ["", false],
])("an id %p of a plugin's channel may be used: %p", (id, may) => {
  const check = () => checkPlugin({ id, open: async () => [] } as never, () => false);
  if (may) expect(check).not.toThrow();
  else expect(check).toThrow("is no id for a channel");
});

const RULE: readonly [string, object][] = [
  ["allowFrom", { allowFrom: "everybody" }],
  ["a name in allowFrom", { allowFrom: [7] }],
  ["requireMention", { requireMention: "no" }],
  ["role", { role: "king" }],
];
test.each<[string, unknown]>([
  ["dmPolicy", { dmPolicy: "closed" }],
  ["groupPolicy", { groupPolicy: "pairing" }],
  ["wakeOnReaction", { wakeOnReaction: "yes" }],
  ...["messages", "minutes", "chars"].flatMap((name): [string, unknown][] => [
    [`${name} of groupContext below 0`, { groupContext: { messages: 1, minutes: 1, chars: 1, [name]: -1 } }],
    [`${name} of groupContext in halves`, { groupContext: { messages: 1, minutes: 1, chars: 1, [name]: 0.5 } }],
    [`no ${name} in groupContext`, { groupContext: { messages: 1, minutes: 1, chars: 1, [name]: undefined } }],
  ]),
  ...RULE.slice(0, 3).map(([name, rule]): [string, unknown] => [name, rule]),
  ...RULE.map(([name, rule]): [string, unknown] => [`${name} of a group`, { groups: { "5": {}, "6": rule } }]),
  ...RULE.map(([name, rule]): [string, unknown] => [`${name} of a server`, { guilds: { "5": {}, "6": rule } }]),
  ["dmPolicy of an account", { accounts: { first: {}, second: { dmPolicy: "closed" } } }],
])("access that cannot be read opens nothing: %s", (_name, access) => {
  expect(() => accessOf("pigeon", access as ChannelAccessSettings)).toThrow("cannot be read");
});

test("access that is not spoken of gives strangers a code and opens no group; each thing that is said is kept", () => {
  expect(accessOf("pigeon")).toEqual({ dmPolicy: "pairing", groupPolicy: "allowlist" });
  const said = {
    dmPolicy: "open",
    groupPolicy: "disabled",
    wakeOnReaction: true,
    allowFrom: ["5"],
    requireMention: false,
    groupContext: { messages: 0, minutes: 0, chars: 0 },
    groups: { "5": { role: "guest", allowFrom: [], requireMention: true } },
    guilds: { "6": { role: "owner" } },
    accounts: { first: { dmPolicy: "disabled" } },
  } as unknown as ChannelAccessSettings;
  expect(accessOf("pigeon", said)).toEqual(said);
});
