import { describe, expect, test } from "bun:test";
import * as commander from "commander";
import { GatewayError } from "../contracts/errors.ts";
import { resolveHome } from "../config/index.ts";
import { cliFixture, fakeGateway, TOKEN } from "../testing/cli-fixture.ts";
import { buildProgram, withDefaultCommand } from "./program.ts";
import { homeOf } from "./state-directory.ts";
import type { CliWorld, StartOptions } from "./world.ts";

const WORLD = { version: "1" } as unknown as CliWorld; // only its commands are read

const STATUS = {
  version: "1.2.3",
  build: "b1",
  node: { id: "gateway_1", name: "machine:7" },
  uptimeMs: 3_725_000,
  model: { name: "gwdemo/demo", demo: true },
  channels: [
    { id: "webchat", ok: true, detail: "" },
    { id: "api", ok: false, detail: "off\u001b[2J" },
  ],
  pool: {
    starting: 0,
    idle: 1,
    busy: 2,
    waiting: 0,
    max: 4,
    maxBecause: "1.0 GB of memory were free at the start, with 2 cores",
  },
  sandbox: { setting: "auto", tier: "full", because: "It works here." },
  queue: { waiting: 3, running: 2 },
  outbox: { pending: 0 },
  notices: ["The configuration has a problem."],
};

describe("a command line", () => {
  test("asking for the version prints it and nothing else", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("--version")).toBe(0);
    expect(fx.out()).toBe("1.2.3\n");
  });

  test("without a command prints help that names every command", async () => {
    await using fx = await cliFixture();
    expect(await fx.run()).toBe(0);
    for (const name of ["start", "chat", "status", "doctor", "logs", "config"]) expect(fx.out()).toContain(name);
  });

  test("describes a command that is named as it does among all of them", async () => {
    await using fx = await cliFixture();
    await fx.run();
    const names = [...fx.out().matchAll(/^ {2}([a-z-]+) .*/gm)].flatMap(([, name = ""]) =>
      name === "help" ? [] : [name],
    );
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) {
      await using one = await cliFixture();
      expect([name, await one.run(name, "--help")]).toEqual([name, 0]);
      expect(one.out()).toStartWith(`Usage: pi-gw ${name}`);
    }
  });

  test("with a wrong command gets the nearest right one and exit code 1", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("statsu")).toBe(1);
    expect(fx.err()).toBe("Unknown command 'statsu'. Did you mean status? See: pi-gw --help\n");
  });

  test("with a wrong option gets the nearest right one and exit code 1", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("status", "--jsno")).toBe(1);
    expect(fx.err()).toBe("Unknown option '--jsno'. Did you mean --json? See: pi-gw status --help\n");
  });

  test("with a wrong option of a command below another one names the help of that command", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("cron", "add", "--sesion", "x", "tea")).toBe(1);
    expect(fx.err()).toMatch(/^Unknown option '--sesion'\..* See: pi-gw cron add --help\n$/);
  });

  test("with the state directory before the command is told where it belongs", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("--home", "/somewhere", "status")).toBe(1);
    expect(fx.err()).toBe(
      "Unknown option '--home'. It comes after the command: pi-gw status --home DIR. See: pi-gw --help\n",
    );
  });

  test("with the state directory before a command of a group is told where it belongs", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("config", "--home", "/somewhere", "get")).toBe(1);
    expect(fx.err()).toBe(
      "Unknown option '--home'. It comes after the command: pi-gw config check --home DIR. See: pi-gw config --help\n",
    );
  });

  test("with a group that can list and none of its commands lists, with the options of the list", async () => {
    const program = () => buildProgram(commander, WORLD, () => undefined);
    const groups = program().commands.filter(({ commands }) => commands.some((one) => one.name() === "list"));
    expect(groups.length).toBeGreaterThan(15);
    for (const group of groups) {
      const first = group.name() === "backup" ? "create" : "list";
      const name = group.name();
      expect(withDefaultCommand(program(), [name])).toEqual([name, first]);
      expect(withDefaultCommand(program(), [name, "--home", "x", "--json"])).toEqual([
        name,
        first,
        "--home",
        "x",
        "--json",
      ]);
      for (const other of ["--help", "-h", "lits", first])
        expect(withDefaultCommand(program(), [name, other])).toEqual([name, other]);
    }
    for (const words of [["status"], ["config"], ["--version"], [], ["statsu"]])
      expect(withDefaultCommand(program(), words)).toEqual(words);
  });

  test.each(["sessions", "turns", "backup", "nodes"])(
    "with a wrong command of %s says that there is none of this name",
    async (group) => {
      await using fx = await cliFixture();
      expect(await fx.run(group, "delte")).toBe(1);
      expect(fx.err()).toMatch(new RegExp(`^Unknown command 'delte'\\..* See: pi-gw ${group} --help\\n$`));
    },
  );

  test("with a port that is none says what a port is", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("start", "--port", "99999")).toBe(1);
    expect(fx.err()).toContain("It must be a whole number from 0 to 65535.");
  });
});

describe("start", () => {
  test("hands its flags over as typed and ends with the gateway's exit code", async () => {
    const given: StartOptions[] = [];
    await using fx = await cliFixture({
      start: async (options) => {
        given.push(options);
        return 7;
      },
    });
    expect(await fx.run("start", "--home", "x", "--port", "0", "--json")).toBe(7);
    expect(given).toEqual([{ home: "x", port: 0, config: undefined, json: true, rehearse: false }]);
  });

  const failures = [
    ["store_failed", 74],
    ["port_taken", 75],
    ["home_taken", 75],
    ["store_taken", 75],
    ["superseded", 75],
    ["config_invalid", 78],
    ["store_corrupt", 1],
  ] as const;
  for (const [code, exit] of failures) {
    test(`that fails with ${code} says so in words and ends with ${exit}`, async () => {
      await using fx = await cliFixture({
        start: async () => {
          throw new GatewayError(code, "inner detail", { say: "What happened and what to do." });
        },
      });
      expect(await fx.run("start")).toBe(exit);
      expect(fx.err()).toBe("What happened and what to do.\n");
    });
  }

  test("that fails with --json says it as one object", async () => {
    await using fx = await cliFixture({
      start: async () => {
        throw new GatewayError("port_taken", "inner detail");
      },
    });
    expect(await fx.run("start", "--json")).toBe(75);
    expect(JSON.parse(fx.err())).toEqual({ event: "error", code: "port_taken", message: "The port is in use." });
  });
});

describe("status", () => {
  test("shows the running gateway in a few lines, safe for a terminal", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () => Response.json(STATUS));
    expect(await fx.run("status")).toBe(0);
    expect(fx.out().replace(/127\.0\.0\.1:\d+/, "HOST")).toBe(
      [
        "pi-gateway 1.2.3 at http://HOST, up 1 h 2 min",
        "node      machine:7",
        "model     gwdemo/demo (demo: set a provider's key for a real one)",
        "agents    2 busy, 1 idle, 0 starting, at most 4 (1.0 GB of memory were free at the start, with 2 cores)",
        "sandbox   full: It works here.",
        "queue     3 waiting, 2 running",
        "replies   0 to deliver",
        "channels  webchat ok, api: off\\u001b[2J",
        "note      The configuration has a problem.",
        "",
      ].join("\n"),
    );
  });

  test("prints one JSON object with --json, and never the token", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () => Response.json(STATUS));
    await fx.run("status", "--json");
    expect(JSON.parse(fx.out())).toMatchObject({ version: "1.2.3", pool: { busy: 2 } });
    expect(fx.out() + fx.err()).not.toContain(TOKEN);
  });

  test("says how to start a gateway when none runs", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("status")).toBe(1);
    expect(fx.err()).toBe(`No gateway is running on ${fx.home}. Start one with: npm start\n`);
  });

  test("says the same when a gateway was killed and left its note behind", async () => {
    await using fx = await cliFixture();
    const gateway = await fakeGateway(fx.home, () => Response.json(STATUS));
    await gateway[Symbol.asyncDispose]();
    expect(await fx.run("status")).toBe(1);
    expect(fx.err()).toBe(`No gateway is running on ${fx.home}. Start one with: npm start\n`);
  });

  test("says what to do when the token is not accepted", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () => Response.json(STATUS));
    await Bun.write(`${fx.home}/token`, "another token entirely\n");
    expect(await fx.run("status")).toBe(1);
    expect(fx.err()).toContain("does not accept the token");
    expect(fx.err()).not.toContain("another token");
  });

  test("passes on what the gateway says in an error", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () =>
      Response.json(
        { error: { code: "stopping", message: "The gateway is stopping.", requestId: "r" } },
        { status: 503 },
      ),
    );
    expect(await fx.run("status")).toBe(1);
    expect(fx.err()).toBe("The gateway is stopping.\n");
  });
});

test("the state directory is found by the same rule as when the gateway starts", () => {
  const environments = [
    { home: null, userHome: "/home/me" },
    { home: "/data/gw", userHome: "/home/me" },
    { home: "~/gw", userHome: "/home/me" },
  ];
  const flags = [undefined, "", "rel/dir", "/abs", "~", "~/x"];
  for (const environment of environments) {
    for (const flag of flags) expect(homeOf(flag, environment)).toBe(resolveHome(flag, environment));
  }
});
