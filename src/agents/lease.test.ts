/** What the end of a lease leaves where: its session file goes back once, and not from the next lease of the same process. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../kit/clock.ts";
import { silentLog } from "../kit/log.ts";
import { caller } from "../testing/agent-fixture.ts";
import { tempHome } from "../testing/temp-home.ts";
import { openLease } from "./lease.ts";
import type { ReadyAgent } from "./setup/start.ts";
import { beginVisit } from "./talk/session-visit.ts";
import { NO_USAGE } from "./talk/entry-usage.ts";

test("the end of a lease leaves the session file with the next lease, which the process may have begun meanwhile", async () => {
  await using home = await tempHome();
  const [kept, visiting] = [join(home.path, "session-1.jsonl"), join(home.path, "visits", "session-1.jsonl")];
  mkdirSync(join(home.path, "visits"));
  writeFileSync(visiting, '{"type":"session"}\n');
  const agent = {
    process: { pid: 1 },
    pipe: { serve: () => undefined, endLeftRunning: async () => undefined },
    door: { lease: () => undefined },
  } as unknown as ReadyAgent;
  const lease = openLease({ clock: systemClock, log: silentLog }, agent, {
    request: { caller: caller("operator"), sessionFile: "session-1.jsonl", settledBytes: 0 },
    session: { file: "session-1.jsonl", kept, path: visiting, bytes: 0, model: "m", thinking: "off" },
    wasOpen: true,
    lost: NO_USAGE,
    stored: null,
    silenceMs: 1,
    providerWaitMs: 1,
    cpuSeconds: 1,
    async giveBack() {
      expect(existsSync(kept)).toBe(true);
      beginVisit({ log: silentLog, kept, visiting });
    },
  });
  await lease[Symbol.asyncDispose]();
  expect([existsSync(visiting), existsSync(kept)]).toEqual([true, false]);
});
