import { describe, expect, test } from "bun:test";
import type { Principal, Role } from "../contracts/ids.ts";
import { systemClock } from "../kit/clock.ts";
import { realStore } from "../testing/real-store.ts";
import { routingConfig } from "../testing/routing-config.ts";
import { inbound } from "../testing/messages.ts";
import { CLOSED_POLICY, decideAccess } from "./access.ts";
import { decideGrant, openRoleGrants } from "./grants.ts";
import { createRouter } from "./router.ts";

const EVE = "telegram:user:9" as Principal;
const OLGA = "telegram:user:1" as Principal;
const facts = { principal: EVE, chat: "c", mentioned: true, paired: false };
const nobody = { owners: [], members: [] };

describe("a role that was given", () => {
  test.each(["owner", "member", "guest"] as const)(
    "lets its holder in as that, where only known people are: %s",
    (role) => {
      const rules = { roles: nobody, policy: CLOSED_POLICY, grants: new Map<Principal, Role>([[EVE, role]]) };
      const because = "an owner gave this role from a chat";
      expect(decideAccess({ ...facts, scope: "dm" }, rules)).toEqual({ allow: true, role, because });
      expect(decideAccess({ ...facts, scope: "dm", principal: OLGA }, rules)).toMatchObject({ allow: false });
    },
  );

  test("says nothing about whom the configuration names", () => {
    const roles = { owners: [], members: [EVE] };
    const rules = { roles, policy: CLOSED_POLICY, grants: new Map<Principal, Role>([[EVE, "owner"]]) };
    expect(decideAccess({ ...facts, scope: "dm" }, rules)).toMatchObject({ role: "member" });
  });

  test("opens no channel that is closed, and no group that is not listed", () => {
    const grants = new Map<Principal, Role>([[EVE, "owner"]]);
    const closed = { roles: nobody, policy: { ...CLOSED_POLICY, dm: "disabled" as const }, grants };
    expect(decideAccess({ ...facts, scope: "dm" }, closed)).toMatchObject({ allow: false, because: "closed" });
    const rules = { roles: nobody, policy: CLOSED_POLICY, grants };
    expect(decideAccess({ ...facts, scope: "group" }, rules)).toMatchObject({ because: "group_not_listed" });
  });

  test("holds from the next message on, over a restart, until it is withdrawn", async () => {
    await using world = await realStore(systemClock);
    const grants = await openRoleGrants(world.store.roleGrants);
    const decide = (from: typeof grants) => {
      const router = createRouter(() => routingConfig(), undefined, from.current);
      const address = { channel: "telegram", account: "default", chat: "9" };
      const verdict = router.decide(inbound("hello", { sender: { principal: EVE, name: "Eve" }, address }));
      return verdict.kind === "accept" ? verdict.role : verdict.kind;
    };
    expect(decide(grants)).toBe("refuse");
    await grants.give({ principal: EVE, role: "member", grantedBy: OLGA, at: 1 });
    expect(decide(grants)).toBe("member");
    const later = await openRoleGrants((await world.reopen()).roleGrants);
    expect(decide(later)).toBe("member");
    await later.remove(EVE, OLGA);
    expect(decide(later)).toBe("refuse");
  });
});

describe("giving a role", () => {
  const none = new Map<Principal, Role>();
  test.each([
    ["telegram:user:9", "member", nobody, none, { allow: true, principal: EVE }],
    ["operator", "guest", nobody, none, { allow: false, because: "operator" }],
    ["Eve", "owner", nobody, none, { allow: false, because: "not_a_person" }],
    ["telegram:group:9", "owner", nobody, none, { allow: false, because: "not_a_person" }],
    ["telegram:user:9", "guest", { owners: [EVE], members: [] }, none, { allow: false, because: "named_in_config" }],
    ["telegram:user:9", null, nobody, new Map([[EVE, "owner"]]), { allow: false, because: "last_owner" }],
    ["telegram:user:9", "member", nobody, new Map([[EVE, "owner"]]), { allow: false, because: "last_owner" }],
    ["telegram:user:9", "owner", nobody, new Map([[EVE, "owner"]]), { allow: true, principal: EVE }],
    [
      "telegram:user:9",
      null,
      { owners: [OLGA], members: [] },
      new Map([[EVE, "owner"]]),
      { allow: true, principal: EVE },
    ],
    ["telegram:user:9", null, nobody, new Map([[EVE, "member"]]), { allow: true, principal: EVE }],
  ] as const)("%s %s", (...[principal, role, roles, grants, expected]) => {
    expect(decideGrant({ principal, role }, { roles, grants: grants as ReadonlyMap<Principal, Role> })).toEqual(
      expected,
    );
  });
});
