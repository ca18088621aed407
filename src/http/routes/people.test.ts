/** Roles over HTTP: listed with where they come from, given and taken, and refused with a reason. */
import { expect, test } from "bun:test";
import type { RoleChange } from "../../contracts/channels/roles.ts";
import type { HttpDeps } from "../types.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";

function world(change: RoleChange) {
  const asked: unknown[] = [];
  const roles: HttpDeps["people"]["roles"] = {
    people: () => [{ principal: "telegram:user:1", role: "owner", from: "configuration" }],
    async change(wish) {
      asked.push(wish);
      return change;
    },
  };
  const http = startHttpWorld({}, { people: { roles } });
  return Object.assign(http, { asked });
}

const post = (body: object) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

test("a role is given in the name of whoever asks, and one that cannot be given is refused with the reason", async () => {
  await using fx = world({ kind: "changed" });
  expect(await (await fx.call("/api/people")).json()).toMatchObject({ items: [{ role: "owner" }] });
  expect((await fx.call("/api/people", post({ principal: "telegram:user:2", role: "member" }))).status).toBe(200);
  expect(fx.asked).toEqual([{ principal: "telegram:user:2", role: "member", by: "operator" }]);
  expect((await fx.call("/api/people", post({ principal: "telegram:user:2", role: "king" }))).status).toBe(422);
  await using last = world({ kind: "refused", because: "last_owner" });
  const refused = await last.call("/api/people", post({ principal: "telegram:user:1", role: null }));
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining("last owner")]);
});
