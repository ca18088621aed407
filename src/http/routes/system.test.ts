import { expect, test } from "bun:test";
import { HEALTH_FIXES } from "../../contracts/system-api.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";

test("POST /api/doctor/fix does each fix by its name, and refuses other names and fields", async () => {
  await using world = startHttpWorld();
  const fix = async (body: unknown) => {
    const headers = { "content-type": "application/json" };
    const response = await world.call("/api/doctor/fix", { method: "POST", headers, body: JSON.stringify(body) });
    return [response.status, ((await response.json()) as { say?: string }).say ?? null];
  };
  for (const name of HEALTH_FIXES) expect(await fix({ fix: name })).toEqual([200, `Done: ${name}.`]);
  for (const wrong of [{ fix: "token" }, { fix: "everything" }, {}, { fix: "modes", more: 1 }, null])
    expect(await fix(wrong)).toEqual([422, null]);
});
