import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../kit/log.ts";
import { until } from "../../testing/agent-stage.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { childNotes, killOrphans } from "./orphans.ts";

const deps = { clock: createFakeClock(), log: silentLog };

test("each process has a folder of its own that nobody else may enter, and it goes with what is in it, not with what is linked from it", async () => {
  await using home = await tempHome();
  const notes = childNotes(home.path);
  const cache = join(home.path, "cache");
  const [one, other] = [notes.tempFolder({ id: "a1", cache }), notes.tempFolder({ id: "b2", cache })];
  expect([one.path === other.path, statSync(one.path).mode & 0o777]).toEqual([false, 0o700]);
  const kept = join(home.path, "kept");
  mkdirSync(kept);
  writeFileSync(join(kept, "note.txt"), "kept");
  symlinkSync(kept, join(one.path, "link"));
  mkdirSync(join(one.path, "deep/er"), { recursive: true });
  writeFileSync(join(other.path, "jiti", "compiled.mjs"), "");
  one.remove(silentLog);
  other.remove(silentLog);
  await until("no temporary folder is left", () => readdirSync(join(home.path, "run", "tmp")).length === 0);
  expect([existsSync(join(kept, "note.txt")), existsSync(join(cache, "jiti", "compiled.mjs"))]).toEqual([true, true]);
});

test("a temporary folder that a previous process left is removed by the next one, which leaves its own alone", async () => {
  await using home = await tempHome();
  const mine = childNotes(home.path).tempFolder({ id: "a1", cache: join(home.path, "cache") });
  const left = join(home.path, "run", "tmp", "1-1-b2");
  mkdirSync(left);
  writeFileSync(join(left, "output.log"), "secret");
  await killOrphans(deps, home.path);
  await until("the folder of the process before is gone", () => !existsSync(left));
  expect(existsSync(mine.path)).toBe(true);
});
