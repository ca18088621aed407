/** Programs that serve the gateway: behind the wall, with their own variables and folders, and ended with all they started. */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultConfig, readEnvironment } from "../../config/index.ts";
import type { Egress } from "../../contracts/egress.ts";
import type { ProgramOrder } from "../../contracts/programs.ts";
import type { ConfinedPlaces, ConfinedProgram, Sandbox, Wall } from "../../contracts/sandbox.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { secret } from "../../kit/secret.ts";
import { testSandbox } from "../../testing/confined-run.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { type TempHome, tempHome } from "../../testing/temp-home.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { identify } from "../process/proc.ts";
import { killOrphans } from "../process/orphans.ts";
import { createPrograms } from "./programs.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

const NO_WALL: Sandbox = {
  report: () => null,
  wall: async () => ({
    report: { tier: "none", because: "This machine has none.", leaks: [], advice: "Get one." },
    confine() {
      throw new Error("there is no wall");
    },
  }),
};
const LIMITS = defaultConfig().agent.limits;

async function world(sandbox: "real" | "none" | "off") {
  const home: TempHome = await tempHome();
  open.push(home);
  const log = recordingLog();
  const programs = createPrograms(
    {
      clock: systemClock,
      ids: systemIds,
      log,
      sandbox: sandbox === "real" ? testSandbox(home.path) : NO_WALL,
      egress: {} as Egress,
    },
    {
      home: home.path,
      environment: readEnvironment({ HOME: "/nowhere", PATH: "/usr/bin:/bin", SECRET_OF_THE_OWNER: "x" }),
      bunEnv: { BUN_BE_BUN: "1" }, // as for a gateway that is one executable
      settings: () => ({ sandbox: sandbox === "off" ? "off" : "auto", limits: LIMITS }),
    },
  );
  let said = "";
  const start = (script: string, more: Partial<ProgramOrder> = {}) =>
    programs.start({
      name: "test",
      command: "sh",
      args: ["-c", script],
      env: { OWN: secret("own-value-1") },
      folders: [],
      network: "none",
      setting: "mcp.servers.test",
      output: (bytes) => void (said += new TextDecoder().decode(bytes)),
      ...more,
    });
  return { home, log, start, said: () => said };
}

describe("a program", () => {
  test("without a wall is not started, unless the owner has switched the wall off", async () => {
    const none = await world("none");
    await expect(none.start("echo hi")).rejects.toMatchObject({
      code: "sandbox_unusable",
      say: expect.stringContaining("mcp.servers.test is not started, because there is no wall to run it behind."),
    });
    const off = await world("off");
    const program = await off.start("echo hi");
    await program.ended;
    expect(off.said()).toBe("hi\n");
  });

  test.each([
    [{ command: "no-such-program" }, 'mcp.servers.test.command is "no-such-program", and there is no such program.'],
    [
      { folders: [{ path: "/no/such", access: "read" as const }] },
      "/no/such, which is listed in mcp.servers.test.folders, does not exist.",
    ],
  ])("that cannot be started says what is missing: %j", async (more, words) => {
    const { start, home } = await world("off");
    await expect(start("true", more)).rejects.toMatchObject({
      code: "program_unusable",
      say: expect.stringContaining(words),
    });
    expect(readdirSync(join(home.path, "run", "tmp"))).toEqual([]);
  });

  test("has a folder and a place for temporary files of its own, its variables, and nothing else of the gateway's environment", async () => {
    const { start, said, home } = await world("off");
    await (
      await start(
        'echo "$OWN $HOME $(basename "$TMPDIR") [$SECRET_OF_THE_OWNER]"; touch "$HOME/mine" "$TMPDIR/passing"',
      )
    ).ended;
    expect(said()).toMatch(new RegExp(`^own-value-1 ${join(home.path, "programs", "test")} \\S+ \\[\\]\\n$`));
    expect(existsSync(join(home.path, "programs", "test", "mine"))).toBe(true);
    await waitFor("the temporary files are gone", () => readdirSync(join(home.path, "run", "tmp")).length === 0);
  });

  test.each(["real", "off"] as const)("is not told to be Bun, wall or none: %s", async (sandbox) => {
    const { start, said, home } = await world(sandbox);
    const { report } = await testSandbox(home.path).wall();
    if (sandbox === "real" && report.tier === "none") return; // nothing to look at on this machine
    await (
      await start('echo "[$BUN_BE_BUN]"')
    ).ended;
    expect(said()).toBe("[]\n");
  });

  test("behind the wall sees its own folder and those that were named, and not the state directory", async () => {
    const { start, said, home } = await world("real");
    const { report } = await testSandbox(home.path).wall();
    if (report.tier === "none") return; // nothing to look at on this machine
    writeFileSync(join(home.path, "token"), "a-token");
    const given = join(home.path, "..", `${home.path.split("/").at(-1)}-given`);
    mkdirSync(given, { recursive: true });
    open.push({ [Symbol.asyncDispose]: async () => void (await Bun.$`rm -rf ${given}`.quiet()) });
    writeFileSync(join(given, "note"), "shared");
    const script = `cat '${home.path}/token' 2>/dev/null; cat '${given}/note'; touch '${given}/new' 2>/dev/null || echo " read-only"; touch "$HOME/mine" && echo written`;
    await (
      await start(script, { folders: [{ path: given, access: "read" }] })
    ).ended;
    expect(said()).toBe("shared read-only\nwritten\n");
  });

  test("says how it ended with its last words, without its secrets", async () => {
    const { start } = await world("off");
    const { detail, asked } = await (await start('echo "bad key $OWN" >&2; exit 3')).ended;
    expect([detail, asked]).toEqual(["it exited with code 3; its last words: bad key [redacted]", false]);
  });

  test("is ended with all that it started, also what has left its family", async () => {
    const { start, said } = await world("off");
    const program = await start("setsid sh -c 'echo $$; exec sleep 1000' & wait");
    await waitFor("the other one runs", () => said().includes("\n"));
    const other = Number(said().trim());
    await program.stop(true);
    expect([identify(other), identify(program.pid)]).toEqual([null, null]);
  });

  test("that does not heed the end of its input and the asking is killed, and whoever stops it does not wait for long", async () => {
    const { start, said } = await world("off");
    const program = await start("trap '' TERM; echo here; while :; do sleep 0.1; done");
    await waitFor("it runs", () => said() === "here\n");
    await waitForEnd("its end", program.stop(false));
    expect(identify(program.pid)).toBeNull();
  });

  test("that a killed gateway left running is ended by the next start", async () => {
    const { start, home, log } = await world("off");
    const program = await start("exec sleep 1000");
    const folder = join(home.path, "run", "programs");
    const [name = ""] = readdirSync(folder);
    const note = await Bun.file(join(folder, name)).json();
    await Bun.write(join(folder, name), JSON.stringify({ ...note, owner: { pid: note.owner.pid, startTime: "1" } }));
    expect(await killOrphans({ clock: systemClock, log }, home.path)).toBe(1);
    await program.ended;
    expect(identify(program.pid)).toBeNull();
  });
});

describe("the network of a program", () => {
  const PORT = 4_711;

  /** A wall that starts the program as it is, and tells what it was asked to hold. */
  async function networkOf(tier: "full" | "basic", network: ProgramOrder["network"]) {
    const home = await tempHome();
    open.push(home);
    const asked: { places: ConfinedPlaces; program: ConfinedProgram }[] = [];
    const wall: Wall = {
      report: { tier, because: "", leaks: [], advice: null },
      confine(places, program) {
        asked.push({ places, program });
        return { argv: program.argv, cwd: program.cwd, env: program.env, wrappers: 0 };
      },
    };
    const listen = () => ({ port: PORT, [Symbol.dispose]: () => undefined });
    const programs = createPrograms(
      {
        clock: systemClock,
        ids: systemIds,
        log: recordingLog(),
        sandbox: { wall: async () => wall, report: () => wall.report },
        egress: { listen } as unknown as Egress,
      },
      {
        home: home.path,
        environment: readEnvironment({ HOME: "/nowhere", PATH: "/usr/bin:/bin" }),
        bunEnv: {},
        settings: () => ({ sandbox: "auto", limits: LIMITS }),
      },
    );
    const order = { name: "test", command: "true", args: [], env: {}, folders: [], setting: "mcp.servers.test" };
    await (
      await programs.start({ ...order, network, output: () => undefined })
    ).ended;
    const { places, program } = asked[0] ?? { places: null, program: null };
    return [places?.network, program?.relay ?? null, program?.env["HTTP_PROXY"] ?? null];
  }

  const closed = (...ports: number[]) => ({ kind: "closed" as const, ports });
  test.each([
    ["full", "none", [closed(), null, null]],
    ["full", { allow: ["a.example"] }, [closed(), 3, null]],
    ["full", "all", [closed(), 3, null]],
    ["full", "machine", [{ kind: "open" }, null, null]],
    ["basic", "none", [closed(), null, null]],
    ["basic", { allow: ["a.example"] }, [closed(PORT), null, `http://127.0.0.1:${PORT}`]],
    ["basic", "machine", [{ kind: "open" }, null, null]],
  ] as const)(
    "in the tier %s with the setting %j is held as %j, with its relay and its proxy",
    async (tier, network, held) => {
      expect(await networkOf(tier, network)).toEqual([...held]);
    },
  );
});
