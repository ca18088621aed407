import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cliFixture } from "../../testing/cli-fixture.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { plistText } from "./launchd-plist.ts";
import { initSystemOf } from "./init-systems.ts";
import { type ServiceSpec, unitText } from "./systemd-unit.ts";

const SPEC: ServiceSpec = {
  command: [process.execPath, "/opt/pi-gateway/dist/main.js"],
  home: "/var/lib/pi-gateway",
  environmentFile: "/var/lib/pi-gateway/service.env",
  path: "/usr/bin:/bin",
  systemUser: null,
};

describe("the systemd unit", () => {
  const lines = (spec: Partial<ServiceSpec> = {}) => unitText({ ...SPEC, ...spec }).split("\n");

  test("runs the gateway itself, waits until it is ready, and starts it again unless the configuration is wrong", () => {
    expect(lines()).toEqual(
      expect.arrayContaining([
        "Type=notify",
        "NotifyAccess=main",
        `ExecStart=${process.execPath} /opt/pi-gateway/dist/main.js start --home /var/lib/pi-gateway`,
        "EnvironmentFile=-/var/lib/pi-gateway/service.env",
        "Restart=on-failure",
        "RestartPreventExitStatus=78",
        "WatchdogSec=60",
        "KillMode=mixed",
        "Delegate=yes",
        "WantedBy=default.target",
      ]),
    );
  });

  test("of the machine names its user and confines it further", () => {
    const system = lines({ systemUser: "pi" });
    expect(system).toEqual(
      expect.arrayContaining([
        "User=pi",
        "ProtectSystem=strict",
        "ReadWritePaths=/var/lib/pi-gateway",
        "ProtectHome=yes",
        "WantedBy=multi-user.target",
      ]),
    );
    expect(lines({ systemUser: "pi", home: "/home/pi/state" })).toContain("ProtectHome=read-only");
    expect(lines().join("\n")).not.toMatch(/^(?:User|ProtectSystem|PrivateTmp)=/m);
  });

  test("sets nothing that would take the wall of the agents away, or keep Bun from compiling", () => {
    const forbidden =
      /^(?:RestrictNamespaces|PrivateUsers|SystemCallFilter|ProtectKernelTunables|ProtectKernelLogs|ProtectProc|ProcSubset|ProtectControlGroups|MemoryDenyWriteExecute)=/m;
    expect(lines().join("\n")).not.toMatch(forbidden);
    expect(lines({ systemUser: "pi" }).join("\n")).not.toMatch(forbidden);
  });

  test("writes paths with spaces, quotes, dollars and percents so that systemd reads them as they are", () => {
    const home = '/srv/a "b" 50%/$x';
    expect(lines({ home, path: "/a b:/$y" })).toEqual(
      expect.arrayContaining([
        `ExecStart=${process.execPath} /opt/pi-gateway/dist/main.js start --home "/srv/a \\"b\\" 50%%/$$x"`,
        'WorkingDirectory=/srv/a "b" 50%%/$x',
        'Environment="PATH=/a b:/$y"',
      ]),
    );
  });

  test.if(Bun.which("systemd-analyze") !== null)(
    "has no line that systemd does not understand",
    async () => {
      await using folder = await tempHome();
      for (const systemUser of [null, "root"]) {
        const file = join(folder.path, "pi-gateway.service");
        await writeFile(file, unitText({ ...SPEC, systemUser }));
        const verified = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", file], { timeout: 60_000 });
        const about = verified.stderr
          .toString()
          .split("\n")
          .filter((line) => line.includes("pi-gateway.service"));
        expect({ code: verified.exitCode, about }).toEqual({ code: 0, about: [] });
      }
    },
    120_000,
  );
});

test("the launchd agent writes paths as XML, and starts again after a failure only", () => {
  const text = plistText({ ...SPEC, home: "/Users/me/a & b" });
  expect(text).toContain("<string>/Users/me/a &amp; b</string>");
  expect(text).toContain("<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>");
});

test.each([
  ["linux", false, "/home/me/.config/systemd/user/pi-gateway.service"],
  ["linux", true, "/etc/systemd/system/pi-gateway.service"],
  ["darwin", false, "/home/me/Library/LaunchAgents/io.pi-gateway.plist"],
  ["darwin", true, undefined],
  ["win32", false, undefined],
])("the service on %s, for the whole machine %p, is the file %p", (platform, isSystem, file) => {
  const machine = { platform, isSystem, userHome: "/home/me", uid: 501, configHome: undefined, home: "/state" };
  expect(initSystemOf(machine)?.file).toBe(file);
});

/** A machine whose systemctl writes down what it is told. */
async function machine(withSystemctl = true, end = "") {
  const base = await cliFixture();
  const folder = join(base.home, "programs");
  const heard = join(base.home, "heard");
  await mkdir(folder);
  if (withSystemctl) {
    await writeFile(join(folder, "systemctl"), `#!/bin/sh\necho "$@" >> ${heard}\n${end}`);
    await chmod(join(folder, "systemctl"), 0o755);
  }
  const environment = {
    home: join(base.home, "state"),
    userHome: base.home,
    path: folder,
    locale: {},
    transpilerCache: null,
    piPath: null,
    noColor: true,
    providerKeys: {},
    variables: () => undefined,
  };
  const fixture = await cliFixture({ environment });
  return {
    run: fixture.run,
    out: fixture.out,
    err: fixture.err,
    unit: join(base.home, ".config/systemd/user/pi-gateway.service"),
    state: environment.home,
    heard: async () => (existsSync(heard) ? (await readFile(heard, "utf8")).trim().split("\n") : []),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await base[Symbol.asyncDispose]();
    },
  };
}

describe.if(process.platform === "linux")("pi-gw service", () => {
  test("installs the unit and a private file for variables, and starts it; uninstalling leaves the state directory", async () => {
    await using it = await machine();
    expect(await it.run("service", "install")).toBe(0);
    expect(await readFile(it.unit, "utf8")).toContain(`--home ${it.state}`);
    expect((await stat(join(it.state, "service.env"))).mode & 0o777).toBe(0o600);
    await writeFile(join(it.state, "service.env"), "KEY=value\n");
    expect(await it.run("service", "install")).toBe(0);
    expect(await readFile(join(it.state, "service.env"), "utf8")).toBe("KEY=value\n");
    expect(await it.run("service", "uninstall")).toBe(0);
    expect(existsSync(it.unit)).toBe(false);
    expect(existsSync(it.state)).toBe(true);
    const begun = ["--user daemon-reload", "--user enable pi-gateway.service", "--user restart pi-gateway.service"];
    const ended = ["--user disable --now pi-gateway.service", "--user daemon-reload"];
    expect(await it.heard()).toEqual([...begun, ...begun, ...ended]);
  });

  test("prints the unit without changing anything", async () => {
    await using it = await machine();
    expect(await it.run("service", "install", "--print", "--system", "--as", "root")).toBe(0);
    expect(it.out()).toContain("User=root\n");
    expect(existsSync(it.unit)).toBe(false);
    expect(await it.heard()).toEqual([]);
  });

  test("says that a session of another user has no service manager, where systemd only says that there is no bus", async () => {
    await using it = await machine(true, "exit 1\n");
    expect(await it.run("service", "install")).toBe(1);
    expect(it.err()).toMatch(
      /Sign in as this user .* or use --system\.\nThis did not work: systemctl --user daemon-reload\n$/,
    );
    expect(await it.run("service", "status")).toBe(1);
  });

  test("says when there is no service manager, and keeps the unit for later", async () => {
    await using it = await machine(false);
    expect(await it.run("service", "install")).toBe(1);
    expect(it.err()).toContain("systemctl was not found");
    expect(existsSync(it.unit)).toBe(true);
  });
});
