/** Updates from inside of a gateway: the command is run as it is, its words are told, and what cannot be updated says so. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../kit/clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { tempHome } from "../testing/temp-home.ts";
import { waitFor } from "../testing/wait-for.ts";
import { createUpdater, versionFiles } from "./index.ts";

const NEVER = new AbortController().signal;

/** A launcher that does what `script` says. */
async function machine(script: string) {
  const home = await tempHome();
  const launcher = join(home.path, "pi-gw");
  await writeFile(launcher, `${script}\n`);
  const deps = { clock: systemClock, log: recordingLog() };
  const options = { home: home.path, version: "1.2.3", launcher, main: "/x/dist/main.js", config: () => null };
  const updater = createUpdater(deps, options);
  const ended = () =>
    waitFor(
      "the command has ended",
      () => updater.report(),
      ({ isRunning }) => !isRunning,
    );
  return { updater, ended, home: home.path, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("a look asks the command and remembers its answer; before that nothing is known", async () => {
  await using it = await machine(`echo "$2 $3 $4 $5" >&2; echo '{"version":"1.2.3","newest":"1.3.0","newer":true}'`);
  expect(it.updater.report()).toMatchObject({ version: "1.2.3", because: null, newest: null, steps: [] });
  expect(await it.updater.look(NEVER)).toMatchObject({ version: "1.3.0", isNewer: true });
  expect(it.updater.report().newest).toMatchObject({ version: "1.3.0" });
});

test("a look that fails says what the command said, and one that is given up ends the command", async () => {
  await using it = await machine(
    `echo '{"error":"update_failed","message":"npm view did not work: no such host"}' >&2; exit 75`,
  );
  const look = it.updater.look(NEVER);
  await expect(look).rejects.toMatchObject({ code: "update_failed", say: "npm view did not work: no such host" });
  await using slow = await machine("exec sleep 60");
  await expect(slow.updater.look(AbortSignal.abort())).rejects.toMatchObject({ code: "update_failed" });
});

test("an update runs the command beside the gateway, tells its words, and runs once at a time", async () => {
  await using it = await machine(
    `echo "Installing: $*" >&2; while [ ! -e "$3/go" ]; do sleep 0.05; done; echo "Version 1.3.0 serves."`,
  );
  it.updater.start();
  expect(() => it.updater.start()).toThrow();
  await waitFor(
    "its first words",
    () => it.updater.report().steps,
    (steps) => steps.length > 0,
  );
  expect(it.updater.report().steps).toEqual([`Installing: update --home ${it.home}`]);
  await writeFile(join(it.home, "go"), "");
  const report = await it.ended();
  expect([report.hasFailed, report.steps.at(-1)]).toEqual([false, "Version 1.3.0 serves."]);
});

test("an update that fails says so, and the outcome of an earlier one is told by whichever version runs", async () => {
  await using it = await machine(`echo "npm install did not work. Nothing was changed." >&2; exit 75`);
  const outcome = { from: "1.2.2", to: "1.2.3", at: 5, kind: "updated", why: null } as const;
  versionFiles(it.home).writeOutcome(outcome);
  it.updater.start();
  expect(await it.ended()).toMatchObject({
    hasFailed: true,
    last: outcome,
    steps: ["npm install did not work. Nothing was changed."],
  });
});

test("an installation that is not updated by the command says how it is", async () => {
  await using home = await tempHome();
  const deps = { clock: systemClock, log: recordingLog() };
  const options = {
    home: home.path,
    version: "1.2.3",
    launcher: undefined,
    main: "/x/dist/main.js",
    config: () => null,
  };
  const updater = createUpdater(deps, options);
  expect(updater.report().because).toContain("Run it as pi-gw");
  expect(() => updater.start()).toThrow();
  await expect(updater.look(NEVER)).rejects.toMatchObject({ code: "bad_request" });
});
