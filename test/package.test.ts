/** The npm package: what is in it, and that it runs where it is installed, without sources and without building. `npm run package-test` installs it by npm. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensureDist } from "../scripts/bundle.ts";
import { pack, type Packed, PROJECT, unpack } from "../scripts/package/pack.ts";
import { tinyProject } from "./tooling-fixture.ts";
import { WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** More would mean that something came along that nobody needs to run it: without dist/ the sources alone were 3.4 MB. 2.4 MB are pictures of the documentation at /docs. */
const MAX_PACKED_BYTES = 8_000_000;

const manifest = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as {
  readonly version: string;
  readonly bin: Record<string, string>;
  readonly exports: Record<string, Record<string, string> | string>;
  readonly dependencies: Record<string, string>;
};

let folder: string;
let packed: Packed;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "package-"));
  packed = await pack(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Beside its dependencies, as `npm install pi-gateway` leaves it. */
async function installed(): Promise<string> {
  const modules = join(folder, "app", "node_modules");
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(PROJECT, "node_modules", name), join(modules, name));
  }
  renameSync(await unpack(packed.file, folder), join(modules, "pi-gateway"));
  return join(modules, "pi-gateway");
}

function filesBelow(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

describe("the npm package", () => {
  test("holds the built gateway, the web console, the bridge, the SDK with its types, and the documentation", () => {
    const built = JSON.parse(readFileSync(join(PROJECT, "dist", ".files"), "utf8")) as readonly string[];
    const exported = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry),
    );
    const wanted = [
      ...built.map((file) => `dist/${file}`),
      ...Object.values(manifest.bin),
      ...exported.map((path) => path.replace(/^\.\//, "")),
      ...["README.md", "LICENSE", "CHANGELOG.md", "docs/cli.md", "docs/reference/config.md"],
    ];
    expect(wanted.filter((path) => !packed.paths.includes(path))).toEqual([]);
  });

  test("holds no sources, no tests, no older build and no executable", () => {
    const current = new Set(JSON.parse(readFileSync(join(PROJECT, "dist", ".files"), "utf8")) as readonly string[]);
    const unwanted = packed.paths.filter((path) => {
      const [top = ""] = path.split("/");
      if (top === "dist") return !current.has(path.slice("dist/".length));
      return /\.tsx?$/.test(path) || ["src", "test", "console", "bridge", "verification"].includes(top);
    });
    expect(unwanted).toEqual([]);
    expect(packed.bytes).toBeLessThan(MAX_PACKED_BYTES);
  });

  test("answers to its own name, so that npx pi-gateway finds it, and to pi-gw", () => {
    expect(Object.keys(manifest.bin).toSorted()).toEqual(["pi-gateway", "pi-gw"]);
  });

  test("needs only what is not built into it: Bun and pi", () => {
    expect(Object.keys(manifest.dependencies).toSorted()).toEqual(["@earendil-works/pi-coding-agent", "bun"]);
  });

  test("starts where it is installed, chats, stops, and changes nothing in its own folder", async () => {
    const gatewayFolder = await installed();
    const before = filesBelow(gatewayFolder);
    const command = join(gatewayFolder, manifest.bin["pi-gateway"] ?? "");
    const home = join(folder, "home");
    const gateway = Bun.spawn([command, "start", "--home", home, "--port", "0"], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", HOME: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = new Response(gateway.stderr).text();
    for await (const chunk of gateway.stdout) if (new TextDecoder().decode(chunk).includes("pi-gateway ready")) break;
    const chat = Bun.spawn([command, "chat", "hello", "--home", home], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(await new Response(chat.stdout).text()).toContain("demo model");
    gateway.kill("SIGTERM");
    expect(await gateway.exited).toBe(0);
    expect((await said).split("\n").filter((line) => /^warn|Building/.test(line))).toEqual([]);
    expect(filesBelow(gatewayFolder)).toEqual(before);
  });
});

test("preparing a package on the machine of its user builds nothing and makes no links", () => {
  using project = tinyProject();
  rmSync(join(project.root, "src"), { recursive: true });
  rmSync(join(project.root, "node_modules"));
  const prepared = Bun.spawnSync(["node", join(project.root, "scripts", "prepare.mjs")]);
  expect({ code: prepared.exitCode, said: prepared.stderr.toString() }).toEqual({ code: 0, said: "" });
  expect(existsSync(join(project.root, "dist"))).toBe(false);
  expect(existsSync(join(project.root, "node_modules"))).toBe(false);
});

test("preparing a checkout that is built leaves the build alone and links both commands", async () => {
  using project = tinyProject();
  rmSync(join(project.root, "node_modules"));
  mkdirSync(join(project.root, "node_modules", ".bin"), { recursive: true });
  for (const name of ["bun", "typebox"])
    symlinkSync(join(PROJECT, "node_modules", name), join(project.root, "node_modules", name));
  await ensureDist(project.root);
  const built = join(project.root, "dist", "main.js");
  const builtAt = statSync(built).mtimeMs;
  expect(Bun.spawnSync(["node", join(project.root, "scripts", "prepare.mjs")]).exitCode).toBe(0);
  expect(statSync(built).mtimeMs).toBe(builtAt);
  for (const name of ["pi-gateway", "pi-gw"])
    expect(existsSync(join(project.root, "node_modules", ".bin", name))).toBe(true);
});
