/** Which binding decides, as a table; the agent of each binding is its own description. */
import { describe, expect, test } from "bun:test";
import { type Binding, type BindingRequest, considerBindings, pickBinding } from "./bindings.ts";

const facts: BindingRequest = {
  channel: "telegram",
  account: "work",
  chat: "7",
  peer: "telegram:user:7",
  role: "member",
};
const b = (agent: string, rest: Omit<Binding, "agent"> = {}): Binding => ({ agent, ...rest });
const all = b("all");
const role = b("role", { role: "member" });
const channel = b("channel", { channel: "telegram" });
const account = b("account", { channel: "telegram", account: "work" });
const chat = b("chat", { channel: "telegram", chat: "7" });
const peer = b("peer", { peer: "telegram:user:7" });

const cases: readonly [string, readonly Binding[], string | null][] = [
  ["none: the default agent", [], null],
  ["one that says nothing fits everybody", [all], "all"],
  ["a role beats one that says nothing", [all, role], "role"],
  ["a channel beats a role", [role, channel], "channel"],
  ["an account beats a channel", [channel, account], "account"],
  ["a chat beats an account", [account, chat], "chat"],
  ["a person beats a chat", [chat, peer], "peer"],
  ["all of them: the person", [all, role, channel, account, chat, peer], "peer"],
  ["the order in the file does not matter between unequal ones", [peer, chat, account, channel, role, all], "peer"],
  ["a person beats everything else together", [b("rest", { ...facts, peer: undefined as never }), peer], "peer"],
  [
    "a person in one chat beats the person anywhere",
    [peer, b("both", { peer: facts.peer, channel: "telegram", chat: "7" })],
    "both",
  ],
  [
    "among equals the first in the file",
    [b("first", { channel: "telegram" }), b("second", { channel: "telegram" })],
    "first",
  ],
  ["everything it says must fit", [b("no", { peer: facts.peer, channel: "discord" }), channel], "channel"],
  ["another person does not fit", [b("no", { peer: "telegram:user:77" })], null],
  ["the beginning of an id does not fit", [b("no", { channel: "telegram", chat: "77" })], null],
  ["a chat is not a person", [b("no", { peer: "7" })], null],
  ["a higher role does not fit", [b("no", { role: "owner" })], null],
];

describe("the binding that decides", () => {
  test.each(cases)("%s", (_name, bindings, expected) => {
    expect(pickBinding(bindings, facts)?.binding.agent ?? null).toBe(expected);
  });
});

test("every binding gets a reason", () => {
  const bindings = [channel, b("no", { channel: "discord", chat: "1" }), peer, b("twin", { peer: facts.peer })];
  expect(considerBindings(bindings, facts).map(({ wins, because }) => [wins, because])).toEqual([
    [false, "fits by channel, but bindings[2] fits by peer"],
    [false, 'chat is "7", not "1"'],
    [true, "fits by peer, and nothing fits more exactly"],
    [false, "fits as exactly as bindings[2], which comes first"],
  ]);
});
