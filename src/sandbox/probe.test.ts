import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ConfinedPlaces, ConfinedProgram, Launch } from "../contracts/sandbox.ts";
import { systemClock } from "../kit/clock.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { tempHome } from "../testing/temp-home.ts";
import { waitFor } from "../testing/wait-for.ts";
import { tryWall } from "./probe.ts";

async function tried(launch: (places: ConfinedPlaces, program: ConfinedProgram) => Launch) {
  await using home = await tempHome();
  const said = await tryWall({ clock: systemClock }, { home: home.path, bunEnv: {}, name: "full" }, launch);
  const run = join(home.path, "run");
  return { said, left: existsSync(run) ? readdirSync(run) : [] };
}

const plain = ({ argv, cwd, env }: ConfinedProgram): Launch => ({ argv, cwd, env, wrappers: 0 });
const instead = (command: string): Launch => ({ argv: ["/bin/sh", "-c", command], cwd: "/", env: {}, wrappers: 0 });

describe("a wall that is tried", () => {
  test("does not count when a program behind it reads the state directory, and nothing of the trial is left", async () => {
    expect(await tried((_places, program) => plain(program))).toEqual({
      said: "a confined program could read the state directory",
      left: [],
    });
  });

  test.each([
    ["complains", "echo 'sandbox: no namespaces' >&2; exit 126", "no namespaces"],
    ["ends without a word", "exit 3", "a confined program ended with code 3"],
    ["says something else", "echo hello; echo odd >&2", "odd"],
  ])("does not count when its program %s", async (_what, command, expected) => {
    expect((await tried(() => instead(command))).said).toBe(expected);
  });

  test("does not count when its program has not ended after twenty seconds, and that is ended", async () => {
    await using home = await tempHome();
    const clock = createFakeClock();
    const options = { home: home.path, bunEnv: {}, name: "full" };
    const said = tryWall({ clock }, options, () => instead("exec sleep 60"));
    await waitFor("the time limit of the trial", () => clock.pending() > 0);
    await clock.advance(19_999);
    expect(clock.pending()).toBe(1);
    await clock.advance(1);
    expect(await said).toBe("a confined program did not end in time");
  });

  test("does not count when it cannot even be started", async () => {
    const missing = { ...instead("true"), argv: ["/nowhere/unshare"] };
    expect((await tried(() => missing)).said).toContain("/nowhere/unshare");
  });
});
