import { describe, expect, test } from "bun:test";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";
import type { DoctorProbes } from "./doctor-probes.ts";

const healthy: DoctorProbes = {
  bunVersion: "1.4.4",
  pi: async () => ({ ok: true, say: "0.87.1 found" }),
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
      configuration: "ok",
      pi: "ok",
      plugins: "ok",
      model: "note",
      port: "ok",
      "state directory": "ok",
      database: "ok",
      "disk space": "ok",
    });
  });

  test("names each broken thing with what to do, and ends with 1", async () => {
    await using fx = await cliFixture({
      doctorProbes: {
        bunVersion: "1.0.0",
        pi: async () => ({ ok: false, say: "The pi agent was not found." }),
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
    expect(fx.out()).toContain("this gateway is running at http://127.0.0.1:");
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

  test("schema prints JSON Schema", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("config", "schema", "--json")).toBe(0);
    expect(JSON.parse(fx.out())).toMatchObject({ type: "object" });
  });
});
