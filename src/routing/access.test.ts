/** Who may speak, as a table. Most rows are mistakes that gateways have made. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Principal } from "../contracts/ids.ts";
import { type AccessRequest, type AccessPolicy, type AccessRules, CLOSED_POLICY, decideAccess } from "./access.ts";

const OWNER = "telegram:user:1";
const MEMBER = "telegram:user:2";
const OTHER = "telegram:user:3";

interface Row {
  readonly who?: string;
  readonly in?: "dm" | "group";
  readonly chat?: string;
  readonly paired?: boolean;
  readonly mentioned?: boolean;
  readonly roles?: Partial<AccessRules["roles"]>;
  readonly policy?: Partial<AccessPolicy>;
}

function outcome({ who = OTHER, in: scope = "dm", paired = false, mentioned = true, ...row }: Row): string {
  const { chat = "-100", roles, policy } = row;
  const facts: AccessRequest = { principal: who as Principal, scope, chat, mentioned, paired };
  const access = decideAccess(facts, {
    roles: { owners: [OWNER], members: [MEMBER], ...roles },
    policy: { ...CLOSED_POLICY, ...policy },
  });
  return access.allow ? access.role : `${access.because}, ${access.tell}`;
}

const direct: readonly [string, Row, string][] = [
  ["the operator is an owner, whatever the lists say", { who: "operator", roles: { owners: [] } }, "owner"],
  ["an owner is an owner", { who: OWNER }, "owner"],
  ["a member is a member", { who: MEMBER }, "member"],
  ["somebody else is refused", {}, "unknown_sender, refusal"],
  ["empty lists are nobody", { who: OWNER, roles: { owners: [], members: [] } }, "unknown_sender, refusal"],
  ["the channel's list lets in, as a member", { policy: { allowFrom: [OTHER] } }, "member"],
  ["an empty channel list lets nobody in", { policy: { allowFrom: [] } }, "unknown_sender, refusal"],
  ['"*" in a list that is not open lets nobody in', { policy: { allowFrom: ["*"] } }, "unknown_sender, refusal"],
  ["open without a list lets nobody in", { policy: { dm: "open" } }, "unknown_sender, refusal"],
  ['open with "*" lets everybody in, as a guest', { policy: { dm: "open", allowFrom: ["*"] } }, "guest"],
  ["pairing offers a way in", { policy: { dm: "pairing" } }, "not_paired, pairing"],
  ["who was paired is a member", { paired: true, policy: { dm: "pairing" } }, "member"],
  ["pairing ends with the policy", { paired: true }, "unknown_sender, refusal"],
  ["closed is closed for owners too, and says nothing", { who: OWNER, policy: { dm: "disabled" } }, "closed, nothing"],
  ["a name that is listed is no id", { who: "ann", policy: { allowFrom: ["ann"] } }, "not_a_person, nothing"],
  ["a bare number is no id", { who: "1", roles: { owners: ["1"] } }, "not_a_person, nothing"],
  ["an empty id is nobody", { who: "", roles: { owners: [""] } }, "not_a_person, nothing"],
  [
    "a group is not a sender",
    { who: "telegram:group:1", roles: { owners: ["telegram:group:1"] } },
    "not_a_person, nothing",
  ],
  ["the same number elsewhere is somebody else", { who: "discord:user:1" }, "unknown_sender, refusal"],
  ["the end of an id is not the id", { who: "telegram:user:11" }, "unknown_sender, refusal"],
  [
    "the beginning of an id is not the id",
    { who: "telegram:user:12", roles: { owners: ["telegram:user:123"] } },
    "unknown_sender, refusal",
  ],
  [
    "capitals make another id",
    { who: "telegram:user:A", roles: { owners: ["telegram:user:a"] } },
    "unknown_sender, refusal",
  ],
];

const listed = (group: AccessPolicy["groups"][string] = {}): Partial<AccessPolicy> => ({ groups: { "-100": group } });
const grouped: readonly [string, Row, string][] = [
  ["a group that is not listed gets no answer, not even for an owner", { who: OWNER }, "group_not_listed, nothing"],
  ["an owner in a listed group is an owner", { who: OWNER, policy: listed() }, "owner"],
  [
    "without a mention there is no answer",
    { who: OWNER, mentioned: false, policy: listed() },
    "not_mentioned, nothing",
  ],
  ["a group may do without", { who: OWNER, mentioned: false, policy: listed({ requireMention: false }) }, "owner"],
  [
    "a channel may do without",
    { who: OWNER, mentioned: false, policy: { ...listed(), requireMention: false } },
    "owner",
  ],
  ["a stranger in a listed group is not heard", { policy: listed() }, "unknown_sender, nothing"],
  ["an empty list is nobody", { policy: listed({ allowFrom: [] }) }, "unknown_sender, nothing"],
  ["the group's list lets in, as a member", { policy: listed({ allowFrom: [OTHER] }) }, "member"],
  ["or as what the group says", { policy: listed({ allowFrom: [OTHER], role: "guest" }) }, "guest"],
  ['"*" lets everybody in, as a guest', { policy: listed({ allowFrom: ["*"] }) }, "guest"],
  [
    "the group's own id in its list lets nobody in",
    { policy: listed({ allowFrom: ["-100"] }) },
    "unknown_sender, nothing",
  ],
  [
    "who was paired for direct messages is a stranger here",
    { paired: true, policy: { ...listed(), dm: "pairing" } },
    "unknown_sender, nothing",
  ],
  ["and so is who is listed for them", { policy: { ...listed(), allowFrom: [OTHER] } }, "unknown_sender, nothing"],
  ["open groups let everybody in, as a guest", { policy: { group: "open" } }, "guest"],
  [
    "but not where the group has a list",
    { policy: { group: "open", ...listed({ allowFrom: [] }) } },
    "unknown_sender, nothing",
  ],
  ["closed is closed", { who: OWNER, policy: { ...listed(), group: "disabled" } }, "closed, nothing"],
  [
    "a group named like a built-in property is not listed",
    { who: OWNER, chat: "constructor" },
    "group_not_listed, nothing",
  ],
];

describe("in direct messages", () => {
  test.each(direct)("%s", (_name, row, expected) => {
    expect(outcome(row)).toBe(expected);
  });
});

describe("in groups", () => {
  test.each(grouped)("%s", (_name, row, expected) => {
    expect(outcome({ in: "group", ...row })).toBe(expected);
  });
});

test("only an id that is listed whole makes an owner", () => {
  const principal = fc.oneof(
    fc.string(),
    fc.string().map((text) => `telegram:user:${text}`),
    fc.constantFrom(OWNER, MEMBER, ""),
  );
  fc.assert(
    fc.property(
      principal,
      fc.array(principal),
      fc.constantFrom("dm" as const, "group" as const),
      (who, owners, scope) => {
        const said = outcome({ who, in: scope, roles: { owners, members: [] }, policy: listed() });
        return said !== "owner" || who === "operator" || owners.includes(who);
      },
    ),
  );
});
