/** The commands around the gateway: launcher, build and test run. */
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { READ } from "../src/http/access/key-reach.ts";
import { ensureDist } from "../scripts/bundle.ts";
import { renderRoutes } from "../scripts/docs.ts";
import { isFresh } from "../scripts/stamp.mjs";
import { LAUNCHERS, PROGRAM, tinyProject } from "./tooling-fixture.ts";

const textOf = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();

/** Reads on until `wanted` has been seen; the rest stays in the stream. */
async function readUntil(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> },
  wanted: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let seen = "";
  while (!seen.includes(wanted)) {
    const { done, value } = await reader.read();
    if (done) return seen;
    seen += decoder.decode(value ?? new Uint8Array(), { stream: true });
  }
  return seen;
}

describe("the build", () => {
  test("makes gateway, bridge, sandbox launcher, console, list and plugin SDK, and then rests until a source changes", async () => {
    using project = tinyProject();
    expect(await ensureDist(project.root)).toBe("built");
    const dist = join(project.root, "dist");
    expect(readdirSync(dist).toSorted()).toEqual([
      ".files",
      ".npmignore",
      ".stamp",
      "bridge.js",
      "bridge.preload.js",
      "console",
      "console.json",
      "docs",
      "main.js",
      "maps",
      "mcp-host.js",
      "sandbox.js",
      "sandbox.js.jsc",
      "sandbox.relay.js",
      "sdk",
      "version",
    ]);
    const list = JSON.parse(readFileSync(join(dist, "console.json"), "utf8"));
    for (const { file, gzip } of Object.values<{ file: string; gzip: string }>(list.files)) {
      expect(Bun.gunzipSync(readFileSync(join(dist, gzip)))).toEqual(new Uint8Array(readFileSync(join(dist, file))));
    }
    expect(list.files["/"].immutable).toBe(false);
    expect(await ensureDist(project.root)).toBe("fresh");
    project.write("console/main.ts", 'document.title = "another";\n');
    expect(await ensureDist(project.root)).toBe("built");
    expect(JSON.parse(readFileSync(join(dist, "console.json"), "utf8")).build).not.toBe(list.build);
  });
  test("leaves a running gateway the parts it was started from, a day longer, however old they are", async () => {
    using project = tinyProject();
    const lazy = (text: string) => {
      project.write("src/lazy.ts", `export const said = ${JSON.stringify(text)};\n`);
      project.write("src/main.ts", `${PROGRAM}\nvoid import("./lazy.ts");\n`);
      return ensureDist(project.root);
    };
    const parts = () => readdirSync(join(project.root, "dist")).filter((name) => /^chunk-.*\.js$/.test(name));
    const age = (names: readonly string[], days: number) => {
      const then = new Date(Date.now() - days * 24 * 3_600_000);
      for (const name of names) utimesSync(join(project.root, "dist", name), then, then);
    };
    await lazy("first");
    const first = parts();
    expect(first.length).toBeGreaterThan(0);
    age(first, 30);
    await lazy("second");
    expect(parts()).toEqual(expect.arrayContaining(first));
    age(first, 2);
    await lazy("third");
    expect(first.filter((name) => parts().includes(name))).toEqual([]);
  });
  test("is not repeated because a test changed", async () => {
    using project = tinyProject();
    await ensureDist(project.root);
    project.write("src/main.test.ts", "export {};\n");
    expect(isFresh(project.root)).toBe(true);
  });
  test("leaves what was built before alone when a source is broken", async () => {
    using project = tinyProject();
    await ensureDist(project.root);
    const main = join(project.root, "dist/main.js");
    const before = readFileSync(main, "utf8");
    project.write("src/main.ts", "export const = ;\n");
    await expect(ensureDist(project.root)).rejects.toThrow();
    expect(readFileSync(main, "utf8")).toBe(before);
    expect(isFresh(project.root)).toBe(false);
  });
  test("may run twice at the same time", async () => {
    using project = tinyProject();
    const builds = Array.from({ length: 3 }, () =>
      Bun.spawn([process.execPath, join(project.root, "scripts/bundle.ts")], {
        stdio: ["ignore", "inherit", "inherit"],
      }),
    );
    expect(await Promise.all(builds.map((build) => build.exited))).toEqual([0, 0, 0]);
    expect(isFresh(project.root)).toBe(true);
    expect(
      readdirSync(join(project.root, "dist"))
        .filter((name) => name.startsWith("."))
        .toSorted(),
    ).toEqual([".files", ".npmignore", ".stamp"]);
  });
});

describe.each(LAUNCHERS)("the launcher %s", (by) => {
  test("builds at the first start only, and passes arguments and exit code through", async () => {
    using project = tinyProject();
    const first = project.launch(by, "once", "7");
    expect(await textOf(first.stdout)).toContain('{"first":"once","rest":["7"],"stranger":null}');
    expect(await textOf(first.stderr)).toBe("Building pi-gateway (first start) …\n");
    expect(await first.exited).toBe(7);
    const second = project.launch(by, "again");
    expect(await textOf(second.stderr)).toBe("");
    expect(await second.exited).toBe(0);
  });
  test("runs nothing and reads nothing of the folder it is started in", async () => {
    using project = tinyProject();
    const launched = project.launch(by, "once");
    expect(await textOf(launched.stdout)).toBe('program {"first":"once","rest":[],"stranger":null}\n');
  });
  test("hands a signal on and ends the way the gateway ended", async () => {
    using project = tinyProject();
    const launched = project.launch(by, "wait");
    const reader = launched.stdout.getReader();
    await readUntil(reader, "program");
    launched.kill("SIGTERM");
    expect(await readUntil(reader, "signal")).toBe("signal 1\n");
    expect(await launched.exited).toBe(9);
  });
  test("takes the gateway with it when it is killed, or is the gateway itself", async () => {
    using project = tinyProject();
    const launched = project.launch(by, "wait");
    const reader = launched.stdout.getReader();
    await readUntil(reader, "program");
    launched.kill("SIGKILL");
    expect(await readUntil(reader, "never said")).toBe(""); // the stream ends with its last holder
  });
  test("explains a broken source instead of running an old build", async () => {
    using project = tinyProject();
    project.write("src/main.ts", "export const = ;\n");
    const launched = project.launch(by, "once");
    const said = await textOf(launched.stderr);
    expect(said).toContain("pi-gateway could not be built.");
    expect(said).toContain("src/main.ts:1:14 ");
    expect(await launched.exited).toBe(1);
    rmSync(join(project.root, "src"), { recursive: true });
    expect(existsSync(join(project.root, "dist/main.js"))).toBe(false);
  });
});

describe.each(LAUNCHERS)("the launcher %s of an installed package", (by) => {
  test("runs what was built, with the Bun beside it, and reads nothing of the folder it is started in", async () => {
    using project = tinyProject();
    await ensureDist(project.root);
    const modules = join(project.root, "app", "node_modules");
    mkdirSync(join(modules, "pi-gateway"), { recursive: true });
    for (const name of ["bin", "dist", "package.json"])
      renameSync(join(project.root, name), join(modules, "pi-gateway", name));
    mkdirSync(join(modules, "pi-gateway", "scripts", "docs"), { recursive: true });
    for (const name of ["bun.mjs", "ready.mjs", "stamp.mjs", "docs/script-help.mjs"])
      renameSync(join(project.root, "scripts", name), join(modules, "pi-gateway", "scripts", name));
    symlinkSync(join(dirname(import.meta.dir), "node_modules", "bun"), join(modules, "bun"));
    const [other] = LAUNCHERS.filter((name) => name !== by);
    rmSync(join(modules, "pi-gateway", other ?? "")); // each does it by itself
    const command = by === "bin/pi-gw" ? ["sh"] : [Bun.which("node") ?? ""];
    const launched = Bun.spawn([...command, join(modules, "pi-gateway", by), "once", "7"], {
      cwd: project.hostile,
      env: { PATH: `${dirname(Bun.which("node") ?? "")}:/usr/bin:/bin` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(await textOf(launched.stdout)).toBe('program {"first":"once","rest":["7"],"stranger":null}\n');
    expect(await textOf(launched.stderr)).toBe("");
    expect(await launched.exited).toBe(7);
  });
});

test("the launcher by Node hands a signal on once, because npm and the terminal may both send it", async () => {
  using project = tinyProject();
  const launched = project.launch("bin/pi-gw.mjs", "wait");
  const reader = launched.stdout.getReader();
  await readUntil(reader, "program");
  launched.kill("SIGTERM");
  expect(await readUntil(reader, "signal")).toBe("signal 1\n");
  launched.kill("SIGTERM");
  expect(await readUntil(reader, "never said")).toBe("");
});

test("the launcher by the shell leaves no process behind the gateway, and is found through links", async () => {
  using project = tinyProject();
  const link = join(project.root, "linked");
  symlinkSync(join("bin", "pi-gw"), link);
  const launched = Bun.spawn([link, "wait"], { cwd: project.hostile, stdio: ["ignore", "pipe", "pipe"] });
  const reader = launched.stdout.getReader();
  await readUntil(reader, "program");
  expect(readFileSync(`/proc/${launched.pid}/cmdline`, "utf8")).toContain("dist/main.js");
  launched.kill("SIGKILL");
  await launched.exited;
});

test("the launcher by the shell hands over to Node where the bun package is only a stub", async () => {
  using project = tinyProject();
  rmSync(join(project.root, "node_modules"));
  mkdirSync(join(project.root, "node_modules", "bun", "bin"), { recursive: true });
  writeFileSync(join(project.root, "node_modules", "bun", "bin", "bun.exe"), "a stub");
  const launched = Bun.spawn(["sh", join(project.root, "bin/pi-gw"), "once"], {
    cwd: project.hostile,
    env: { PATH: dirname(Bun.which("node") ?? "") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await textOf(launched.stderr)).toContain("Bun was not found. Run `npm install`");
  expect(await launched.exited).toBe(127);
});

test("a route is described with its caller, the scope of a key and its limit", () => {
  const rows = [
    { method: "POST", path: "/api/chat", auth: "operator", scope: READ, body: { kind: "json", maxBytes: 1_048_576 } },
  ];
  expect(renderRoutes(rows)).toContain(
    "| `POST` | `/api/chat` | operator (token or cookie) | `read`, all agents | JSON, at most 1024 KiB |",
  );
});
