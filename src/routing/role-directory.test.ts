/** Who has which role, where it comes from, and what a change of it does. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../config/index.ts";
import type { Principal, Role } from "../contracts/ids.ts";
import type { RoleGrant } from "../contracts/store/role-grants.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createAccessPolicies } from "./channel-policy.ts";
import { openRoleGrants } from "./grants.ts";
import { createRoleDirectory } from "./role-directory.ts";

const ANN = "telegram:user:7" as Principal;
const BOB = "telegram:user:8" as Principal;
const CEM = "telegram:user:9" as Principal;

async function directory(roles: object, given: readonly [Principal, Role][] = []) {
  const { config, problems } = checkConfigText(JSON.stringify({ roles }), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  const rows = new Map<Principal, RoleGrant>();
  const grants = await openRoleGrants({
    list: async () => [...rows.values()],
    put: async (grant: RoleGrant) => void rows.set(grant.principal, grant),
    remove: async (principal: Principal) => void rows.delete(principal),
  } as unknown as Parameters<typeof openRoleGrants>[0]);
  const clock = createFakeClock(1_000);
  for (const [principal, role] of given) await grants.give({ principal, role, grantedBy: ANN, at: 1 });
  const policies = createAccessPolicies(
    () => config.channels,
    () => false,
  );
  return { rows, roles: createRoleDirectory({ clock, config: () => config, grants, policies }) };
}

test("the list names everybody once: by the configuration first, then who was given a role in a chat", async () => {
  const { roles } = await directory({ owners: [ANN], members: [BOB] }, [
    [BOB, "owner"],
    [CEM, "guest"],
  ]);
  expect(roles.people()).toEqual([
    { principal: ANN, role: "owner", from: "configuration" },
    { principal: BOB, role: "member", from: "configuration" },
    { principal: CEM, role: "guest", from: "chat" },
  ]);
});

test("a change is stored with who made it and when, and null takes the role back", async () => {
  const { roles, rows } = await directory({ owners: [ANN] });
  expect(await roles.change({ principal: CEM, role: "member", by: ANN })).toEqual({ kind: "changed" });
  expect([...rows.values()]).toEqual([{ principal: CEM, role: "member", grantedBy: ANN, at: 1_000 }]);
  expect(await roles.change({ principal: CEM, role: null, by: ANN })).toEqual({ kind: "changed" });
  expect(rows.size).toBe(0);
});

test("a person whom the configuration names keeps their role, and nothing is stored", async () => {
  const { roles, rows } = await directory({ owners: [ANN], members: [BOB] });
  const refused = await roles.change({ principal: BOB, role: "owner", by: ANN });
  expect(refused).toEqual({ kind: "refused", because: "named_in_config" });
  expect(rows.size).toBe(0);
});
