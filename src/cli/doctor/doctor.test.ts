import { describe, expect, test } from "bun:test";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { childNotes } from "../../agents/process/orphans.ts";
import { identify } from "../../agents/process/proc.ts";
import { cliFixture, fakeGateway } from "../../testing/cli-fixture.ts";
import type { DoctorProbes } from "./probes.ts";

const healthy: DoctorProbes = {
  bunVersion: "1.4.4",
  pi: async () => ({ ok: true, say: "0.87.1 found" }),
  sandbox: async () => ({ tier: "full", because: "It works here.", leaks: [], advice: null }),
  freeBytes: async () => 10_000_000_000,
  portIsFree: () => true,
};

const states = (out: string) =>
  Object.fromEntries(
    out
      .trimEnd()
      .split("\n")
      .map((text) => {
        const { check, state } = JSON.parse(text) as { check: string; state: string };
        return [check, state];
      }),
  );

describe("doctor", () => {
  test("says of everything that it is fine, and that the demo model answers", async () => {
    await using fx = await cliFixture({ doctorProbes: healthy });
    expect(await fx.run("doctor", "--json")).toBe(0);
    expect(states(fx.out())).toEqual({
      bun: "ok",
      gateway: "ok",
      configuration: "ok",
      pi: "ok",
      sandbox: "ok",
      plugins: "ok",
      model: "note",
      port: "ok",
      token: "ok",
      network: "ok",
      "state directory": "ok",
      database: "ok",
      "disk space": "ok",
    });
  });

  test("says of a Postgres database that cannot be reached that it is broken, and does not show its password", async () => {
    await using fx = await cliFixture({ doctorProbes: healthy });
    const url = "postgres://gateway:a-password-of-the-store@127.0.0.1:1/gateway";
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), JSON.stringify({ store: { url } }));
    expect(await fx.run("doctor", "--json")).toBe(1);
    expect(states(fx.out())["database"]).toBe("broken");
    expect(fx.out()).toContain("Postgres cannot be used");
    expect(fx.out()).not.toContain("a-password-of-the-store");
  });

  test("names each broken thing with what to do, and ends with 1", async () => {
    await using fx = await cliFixture({
      doctorProbes: {
        bunVersion: "1.0.0",
        pi: async () => ({ ok: false, say: "The pi agent was not found." }),
        sandbox: async () => ({ tier: "none", because: "No wall.", leaks: [], advice: null }),
        freeBytes: async () => 1_000_000,
        portIsFree: () => false,
      },
    });
    await Bun.write(join(fx.home, "gateway.db"), "this is not a database");
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), '{\n  "gateway": { "prot": 1 }\n}');
    expect(await fx.run("doctor")).toBe(1);
    const broken = fx
      .out()
      .split("\n")
      .filter((text) => text.startsWith("broken"));
    expect(broken.map((text) => text.slice(8, 24).trim())).toEqual([
      "bun",
      "configuration",
      "configuration",
      "pi",
      "port",
      "database",
      "disk space",
    ]);
    expect(fx.out()).toContain("pi-gateway.jsonc:2:");
    expect(fx.out()).toContain("Did you mean gateway.port?");
  });

  test("says of an enabled plugin what keeps it from running, and the digest of one that could", async () => {
    await using fx = await cliFixture({ doctorProbes: healthy });
    const put = async (id: string, version: string) => {
      const about = { id, version, main: "index.ts", gateway: "*" };
      await mkdir(join(fx.home, "plugins", id), { recursive: true, mode: 0o700 });
      await writeFile(join(fx.home, "plugins", id, "plugin.json"), JSON.stringify(about), { mode: 0o600 });
      await writeFile(join(fx.home, "plugins", id, "index.ts"), "", { mode: 0o600 });
    };
    await put("good", "1.0.0");
    await put("bad", "soon");
    await put("unused", "soon");
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), '{"plugins":{"enabled":["good","bad","gone"]}}');
    expect(await fx.run("doctor")).toBe(1);
    const about = fx
      .out()
      .split("\n")
      .filter((text) => text.includes("plugins  "));
    expect(about.length).toBe(3);
    expect(about.find((text) => text.includes("good"))).toMatch(/^ok .* good 1\.0\.0, sha256 [0-9a-f]{64}$/);
    expect(about.find((text) => text.includes("bad"))).toContain("version must be three numbers");
    expect(about.find((text) => text.includes("gone"))).toContain("there is no such plugin");
  });

  test("says when the last good configuration is in use", async () => {
    await using fx = await cliFixture({ doctorProbes: healthy });
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), "{ broken");
    await Bun.write(join(fx.home, "config.last-good.jsonc"), "{}");
    expect(await fx.run("doctor")).toBe(1);
    expect(fx.out()).toContain("Until then the last good one is used.");
  });

  test("knows the port is taken by this very gateway", async () => {
    await using fx = await cliFixture({ doctorProbes: { ...healthy, portIsFree: () => false } });
    await using _gateway = await fakeGateway(fx.home, () => Response.json({ version: "1.2.3" }));
    expect(await fx.run("doctor")).toBe(0);
    expect(fx.out()).toContain("running at http://127.0.0.1:");
  });

  describe("beside a running gateway", () => {
    const config = { file: "", applied: true, problems: [] as string[] };
    const claude = { version: "1.2.3", model: { name: "anthropic/claude", demo: false }, agentTrouble: null };
    const answers =
      (status: object, plugins: object[] = []) =>
      (_request: Request, { pathname }: URL): Response => {
        const bodies: Record<string, object> = {
          "/api/status": { ...claude, config, ...status },
          "/api/config": { gateway: { port: 4711 } },
          "/api/plugins": { items: plugins },
          "/api/tools": { tools: [] },
        };
        return Response.json(bodies[pathname] ?? {});
      };
    const lineOf = (out: string, check: string) =>
      out
        .split("\n")
        .find((line) => line.slice(8).startsWith(check.padEnd(16)))
        ?.trim();

    test("reports what that gateway says, and not what this shell would do, when it was started with other variables", async () => {
      const never = async () => {
        throw new Error("this shell is not asked");
      };
      await using fx = await cliFixture({ doctorProbes: { ...healthy, pi: never, discord: never, telegram: never } });
      const file = join(fx.home, "pi-gateway.jsonc");
      await Bun.write(file, '{ "models": { "providers": { "x": { "apiKey": "${ONLY_THERE}" } } } }');
      await using _gateway = await fakeGateway(fx.home, answers({ config: { ...config, file } }));
      expect(await fx.run("doctor")).toBe(0);
      expect(lineOf(fx.out(), "gateway")).toMatch(/^ok .*running at http:.*what it says about itself$/);
      expect(lineOf(fx.out(), "configuration")).toContain(`${file} is in force`);
      expect(lineOf(fx.out(), "model")).toContain("anthropic/claude answers");
      expect(fx.out()).not.toContain("demo");
      expect(fx.out()).toMatch(/^note +this shell .*ONLY_THERE.*The running gateway does not have this problem\.$/m);
    });

    test("calls a plugin that does not run, a channel that is down, agents that do not start and a file that is not in force broken", async () => {
      await using fx = await cliFixture({ doctorProbes: healthy });
      const problems = ["The configuration file is broken, so the last good one is in use.", "a.jsonc:3:4 No."];
      const notices = [...problems, "Plugin bad does not run: It has no main.", "No pi here.", "3 replies are lost."];
      const status = {
        config: { file: "a.jsonc", applied: false, problems },
        agentTrouble: "No pi here.",
        channels: [{ id: "telegram", ok: false, detail: "401 Unauthorized" }],
        notices,
      };
      const plugins = [
        { id: "bad", state: "failed", trouble: "It has no main." },
        { id: "good", state: "running", trouble: null, version: "1.0.0", digest: "abc" },
        { id: "gateway", builtin: true, state: "running", trouble: null },
        { id: "unused", state: "available", trouble: null },
      ];
      await using _gateway = await fakeGateway(fx.home, answers(status, plugins));
      expect(await fx.run("doctor")).toBe(1);
      const lines = fx.out().split("\n");
      expect(lines.filter((line) => line.startsWith("broken")).map((line) => line.slice(25))).toEqual([
        "a.jsonc is not in force; the gateway goes on with the settings it had before.",
        ...problems,
        "No pi here.",
        "telegram: 401 Unauthorized",
        "bad does not run: It has no main.",
      ]);
      expect(lines.filter((line) => line.startsWith("note")).map((line) => line.slice(25))).toEqual([
        "3 replies are lost.",
      ]);
      expect(lines.at(-2)).toBe("Something needs your attention: see the lines marked broken.");
    });

    test("calls a gateway that does not answer broken, and one that has crashed a note", async () => {
      await using fx = await cliFixture({ doctorProbes: healthy });
      await using _gateway = await fakeGateway(fx.home, () => new Response("", { status: 500 }));
      expect(await fx.run("doctor")).toBe(1);
      expect(lineOf(fx.out(), "gateway")).toMatch(
        /^broken .*should answer at .* and does not; the following is what this shell sees\. \S.*\S$/,
      );
      const gone = Bun.spawnSync(["true"]).pid;
      await Bun.write(join(fx.home, "gateway.json"), JSON.stringify({ pid: gone, url: "http://127.0.0.1:9" }));
      const before = fx.out().length;
      expect(await fx.run("doctor")).toBe(0);
      expect(lineOf(fx.out().slice(before), "gateway")).toMatch(/^note .*ended without a clean stop/);
    });
  });

  test("prints the running gateway's own list, the one that the web console shows", async () => {
    await using fx = await cliFixture({ doctorProbes: healthy });
    const items = [
      { check: "Model", state: "ok", say: "one/large answers." },
      { check: "Clock", state: "broken", say: "It says 1970\u001b[2J." },
    ];
    await using _gateway = await fakeGateway(fx.home, (_request, { pathname }) =>
      Response.json(
        pathname === "/api/doctor" ? { items } : { version: "1.2.3", channels: [{ id: "irc", ok: false }] },
      ),
    );
    expect(await fx.run("doctor")).toBe(1);
    expect(fx.out()).toContain("ok      model            one/large answers.\n");
    expect(fx.out()).toContain("broken  clock            It says 1970\\u001b[2J.\n");
    expect(fx.out()).not.toContain("irc");
    expect(fx.out()).not.toContain("disk space");
  });

  test("names each quarantined tool of the running gateway, and each that is checked in part, with the reason", async () => {
    await using fx = await cliFixture({ doctorProbes: healthy });
    const tools = [
      { name: "good", plugin: "gateway", status: "ok" },
      { name: "näh", plugin: "servers", status: "quarantined", reason: "Its name is wrong." },
      { name: "mail", plugin: "servers", status: "ok", notices: ["A pattern is not checked."] },
    ];
    await using _gateway = await fakeGateway(fx.home, (_request, { pathname }) =>
      Response.json(pathname === "/api/tools" ? { tools } : { version: "1.2.3" }),
    );
    expect(await fx.run("doctor")).toBe(0);
    expect(fx.out()).toContain("note    tools            näh of servers is quarantined: Its name is wrong.\n");
    expect(fx.out()).toContain("note    tools            mail of servers: A pattern is not checked.\n");
  });

  test("has a line for each MCP server of the running gateway, with the reason where one does not work", async () => {
    await using fx = await cliFixture({ doctorProbes: healthy });
    const mcp = [
      { name: "shop", state: "idle", tools: 3, trouble: null },
      { name: "lost", state: "waiting", tools: 0, trouble: "It exited with code 3." },
    ];
    const notices = ["The MCP server lost does not work: It exited with code 3."];
    await using _gateway = await fakeGateway(fx.home, (_request, { pathname }) =>
      Response.json(pathname === "/api/tools" ? { tools: [] } : { version: "1.2.3", mcp, notices }),
    );
    expect(await fx.run("doctor")).toBe(1);
    expect(fx.out()).toContain("ok      mcp              shop: idle, 3 tools\n");
    expect(fx.out()).toContain("broken  mcp              lost: waiting, 0 tools. It exited with code 3.\n");
    expect(fx.out()).not.toContain("notice ");
  });

  describe("without a running gateway", () => {
    const lineOf = (out: string, check: string) =>
      out
        .trimEnd()
        .split("\n")
        .map((text) => JSON.parse(text) as { check: string; state: string; say: string })
        .find((line) => line.check === check);

    const STRONG = "aGoodToken-7xQ2mV9pL4kR8sT1wZ6yB3nC";
    test.each([
      { what: "short", value: "secret", mode: 0o600, state: "broken", words: "is too short" },
      {
        what: "published",
        value: "your-token-here-0123456789abcdefghij",
        mode: 0o600,
        state: "broken",
        words: "placeholder",
      },
      { what: "readable by others", value: STRONG, mode: 0o644, state: "broken", words: "other users of this machine" },
      { what: "good", value: STRONG, mode: 0o600, state: "ok", words: "private" },
    ])("says of a token that is $what how it is", async ({ value, mode, state, words }) => {
      await using fx = await cliFixture({ doctorProbes: healthy });
      await writeFile(join(fx.home, "token"), `${value}\n`);
      await chmod(join(fx.home, "token"), mode);
      await fx.run("doctor", "--json");
      const line = lineOf(fx.out(), "token");
      expect([line?.state, line?.say.includes(words)]).toEqual([state, true]);
      expect(fx.out()).not.toContain(value);
    });

    test.each([
      ["0.80.0", "note", "0.80.0 found. This gateway is tested with pi 0.87.1."],
      ["0.87.1", "ok", "0.87.1 found"],
    ])("says of pi %s whether this gateway is tested with it", async (version, state, say) => {
      const pi = async () => ({ ok: true, say: `${version} found`, version });
      await using fx = await cliFixture({ doctorProbes: { ...healthy, pi }, piVersion: "0.87.1" });
      expect(await fx.run("doctor", "--json")).toBe(0);
      expect(lineOf(fx.out(), "pi")).toMatchObject({ state, say });
    });

    test("notes a port that others will reach", async () => {
      await using fx = await cliFixture({ doctorProbes: healthy });
      const gateway = { bind: "0.0.0.0", insecure: true, auth: { token: "aGoodToken-7xQ2mV9pL4kR8sT1wZ6yB3nC" } };
      await writeFile(join(fx.home, "pi-gateway.jsonc"), JSON.stringify({ gateway }), { mode: 0o600 });
      await fx.run("doctor", "--json");
      expect(lineOf(fx.out(), "network")).toMatchObject({ state: "note" });
    });

    test.each([
      ["of the year 2000", () => Date.UTC(2000, 0, 1), "broken", "in the past"],
      ["that was moved back by an hour", () => Date.now() - 3_600_000, "broken", "moved back"],
      ["that is right", () => Date.now(), "ok", "it says"],
    ])("says of a clock %s how it is", async (_what, now, state, words) => {
      await using fx = await cliFixture({ doctorProbes: { ...healthy, now } });
      await writeFile(join(fx.home, "gateway.db"), "");
      await fx.run("doctor", "--json");
      const line = lineOf(fx.out(), "clock");
      expect([line?.state, line?.say.includes(words)]).toEqual([state, true]);
    });

    test("names the variables that the service has and this shell does not, and a file of them that others can read", async () => {
      await using fx = await cliFixture({ doctorProbes: healthy }, { HERE: "1" });
      const file = join(fx.home, "service.env");
      await writeFile(file, "# keys\nHERE=1\nANTHROPIC_API_KEY=sk-of-the-service\n", { mode: 0o600 });
      expect(await fx.run("doctor", "--json")).toBe(0);
      expect(lineOf(fx.out(), "service")?.say).toContain("the service has ANTHROPIC_API_KEY (");
      expect(fx.out()).not.toContain("sk-of-the-service");
      await chmod(file, 0o644);
      expect(await fx.run("doctor", "--json")).toBe(1);
      expect(fx.out()).toContain("other users can read it");
    });

    test("counts processes that a killed gateway left running, and touches none", async () => {
      await using fx = await cliFixture({ doctorProbes: healthy });
      const child = Bun.spawn(["sleep", "60"]);
      try {
        const notes = childNotes(fx.home);
        const identity = identify(child.pid);
        if (identity === null) return; // this system does not tell processes apart, and there are no notes
        notes.write(identity, "");
        const path = join(fx.home, "run", "agents", `${child.pid}.json`);
        const note = JSON.parse(await readFile(path, "utf8")) as { owner: unknown };
        await writeFile(path, JSON.stringify({ ...note, owner: { pid: 4_000_000, startTime: "1" } }));
        expect(await fx.run("doctor", "--json")).toBe(1);
        expect(lineOf(fx.out(), "processes")?.say).toStartWith("1 of a gateway that is gone still run.");
        expect([child.exitCode, await Bun.file(path).exists()]).toEqual([null, true]);
      } finally {
        child.kill();
      }
    });
  });

  test("notes a state directory that others may look into", async () => {
    await using fx = await cliFixture({ doctorProbes: healthy });
    await chmod(fx.home, 0o755);
    await fx.run("doctor", "--json");
    expect(states(fx.out())["state directory"]).toBe("note");
  });

  test("finds the installed pi without starting it when it does not know how to", async () => {
    await using fx = await cliFixture();
    await fx.run("doctor", "--json", "--config", "/nowhere/at-all.jsonc");
    expect(states(fx.out())).toMatchObject({ pi: "ok", configuration: "broken" });
  });
});

describe("config", () => {
  test("check says where a problem is and ends with 78", async () => {
    await using fx = await cliFixture();
    await Bun.write(join(fx.home, "my.jsonc"), '{\n  "gateway": { "port": "abc" }\n}');
    expect(await fx.run("config", "check", "my.jsonc")).toBe(78);
    expect(fx.out()).toContain("my.jsonc:2:");
    expect(fx.out()).toContain("is not valid.");
  });

  test("check is content when there is no file", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("config", "check", "--json")).toBe(0);
    expect(JSON.parse(fx.out())).toEqual({ file: null, ok: true });
  });

  test("get prints a setting, with its default, and never a secret", async () => {
    await using fx = await cliFixture();
    const token = "a-token-that-must-not-be-seen-1234";
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), JSON.stringify({ gateway: { auth: { token } } }));
    expect(await fx.run("config", "get", "gateway.port")).toBe(0);
    expect(fx.out()).toBe("18789\n");
    expect(await fx.run("config", "get")).toBe(0);
    expect(fx.out()).not.toContain(token);
    expect(await fx.run("config", "get", "gateway.prot")).toBe(1);
  });

  test("get asks the running gateway, whatever the file says by now", async () => {
    await using fx = await cliFixture();
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), '{ "gateway": { "port": ');
    await using _gateway = await fakeGateway(fx.home, (_request, { pathname }) =>
      pathname === "/api/config" ? Response.json({ gateway: { port: 4711 } }) : new Response("", { status: 404 }),
    );
    expect(await fx.run("config", "get", "gateway.port")).toBe(0);
    expect(fx.out()).toBe("4711\n");
    expect(fx.err()).toMatch(/^As the running gateway at http:.* has it:\n$/);
  });

  test("get of a named file reads that file, also while a gateway runs", async () => {
    await using fx = await cliFixture();
    await Bun.write(join(fx.home, "other.jsonc"), '{ "gateway": { "port": 12 } }');
    await using _gateway = await fakeGateway(fx.home, () => Response.json({ gateway: { port: 4711 } }));
    expect(await fx.run("config", "get", "gateway.port", "--config", "other.jsonc")).toBe(0);
    expect(fx.out()).toBe("12\n");
  });

  test("get shows the last good settings while the file is broken and no gateway runs, and says so", async () => {
    await using fx = await cliFixture();
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), '{\n "gateway": { "port": ');
    expect(await fx.run("config", "get", "gateway.port")).toBe(78);
    await Bun.write(join(fx.home, "config.last-good.jsonc"), '{ "gateway": { "port": 4711 } }');
    expect(await fx.run("config", "get", "gateway.port")).toBe(0);
    expect(fx.out()).toBe("4711\n");
    expect(fx.err()).toContain("pi-gateway.jsonc:2:");
    expect(fx.err()).toContain("last good");
  });

  test("check holds the settings of an enabled plugin against its own schema, and says line and column", async () => {
    await using fx = await cliFixture();
    const folder = join(fx.home, "plugins", "greeter");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const config = {
      type: "object",
      properties: { greeting: { type: "string" }, times: { type: "integer", maximum: 3 } },
      additionalProperties: false,
    };
    const manifest = { id: "greeter", version: "1.0.0", main: "index.ts", gateway: "*", config };
    await writeFile(join(folder, "plugin.json"), JSON.stringify(manifest), { mode: 0o600 });
    await writeFile(join(folder, "index.ts"), "export default () => {};\n", { mode: 0o600 });
    const lines = [
      "{",
      '  "plugins": {',
      '    "enabled": ["greeter", "absent"],',
      '    "config": { "greeter": {',
      '      "greeting": 5,',
      '      "times": 9 } }',
      "  }",
      "}",
    ];
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), lines.join("\n"));
    expect(await fx.run("config", "check")).toBe(78);
    expect(fx.out()).toMatch(/pi-gateway\.jsonc:5:19 plugins\.config\.greeter\.greeting is 5; it must be text\./);
    expect(fx.out()).toMatch(
      /pi-gateway\.jsonc:6:16 plugins\.config\.greeter\.times is 9; it must be a whole number of at most 3\./,
    );
    expect(fx.out()).toMatch(/pi-gateway\.jsonc:3:16 absent: It is in plugins\.enabled, but there is no such plugin/);
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), lines.join("\n").replace("5,", '"hi",').replace("9", "2"));
    expect(await fx.run("config", "check")).toBe(0);
  });

  test("schema prints JSON Schema", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("config", "schema", "--json")).toBe(0);
    expect(JSON.parse(fx.out())).toMatchObject({ type: "object" });
  });
});
