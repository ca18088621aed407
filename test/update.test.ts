/** `pi-gw update` of a whole gateway, with the launcher and a supervisor: undisturbed, and killed. `npm run update-kills` kills many more. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { runUpdateKills } from "../verification/updates/run.ts";
import { WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const CLEAN = { lost: [], doubled: [], problems: [] };

test.if(process.platform === "linux")(
  "an update that nobody disturbs ends with the new version, and with the old one when the new one fails after it changed the tables",
  async () => {
    const report = await runUpdateKills({ rounds: 2, seed: 5, calm: true }); // the second version fails
    expect(report).toMatchObject({ ...CLEAN, servedNew: 1, servedOld: 1, flawed: 1 });
  },
);

test.if(process.platform === "linux")(
  "an update that is killed ends with the old or the new version, and no acknowledged message is lost",
  async () => {
    const report = await runUpdateKills({ rounds: 3, seed: 236 });
    expect(report).toMatchObject({ ...CLEAN, rounds: 3 });
    expect(report.acknowledged).toBeGreaterThan(0);
  },
);
