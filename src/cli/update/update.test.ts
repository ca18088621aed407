/** `pi-gw update` before it switches: which versions are newer, which installations it leaves alone, and what it refuses. */
import { describe, expect, test } from "bun:test";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cliFixture } from "../../testing/cli-fixture.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { isInCheckout, versionFiles, whyNot } from "../../update/index.ts";
import { isNewer } from "./version-order.ts";

test.each([
  ["1.2.3", "1.2.2", true],
  ["1.10.0", "1.9.9", true],
  ["2.0.0", "10.0.0", false],
  ["1.0.0", "1.0.0", false],
  ["1.0.0", "1.0.0-rc.1", true],
  ["1.0.0-rc.1", "1.0.0", false],
  ["1.0.0-rc.10", "1.0.0-rc.9", true],
  ["1.0.0-rc.1.1", "1.0.0-rc.1", true],
  ["1.0.0-rc", "1.0.0-1", true],
  ["1.0.0-1", "1.0.0-rc", false],
  ["1.0.0+build.2", "1.0.0+build.1", false],
  ["newest", "1.0.0", false],
])("version %s against %s: newer is %p", (version, than, newer) => {
  expect(isNewer(version, than)).toBe(newer);
});

describe("an installation", () => {
  const facts = { launcher: "/usr/lib/node_modules/pi-gateway/bin/pi-gw", main: "/x/dist/main.js", isCheckout: false };
  test.each([
    ["by npm is updated by the command", facts, null],
    ["that is a checkout is updated by git", { ...facts, launcher: undefined, isCheckout: true }, "git pull"],
    [
      "that is a checkout with a compiled gateway is updated by git",
      { launcher: undefined, main: "/$bunfs/root/gateway", isCheckout: true },
      "git pull",
    ],
    ["that is one executable is replaced by hand", { ...facts, main: "/$bunfs/root/pi-gw" }, "executable"],
    ["that runs without its launcher is left alone", { ...facts, launcher: undefined }, "Run it as pi-gw"],
  ])("%s", (_what, given, says) => {
    const why = whyNot(given);
    if (says === null) expect(why).toBeNull();
    else expect(why).toContain(says);
  });

  test("is a checkout where the sources of the gateway are beside dist/, also when dist/ has it compiled", async () => {
    await using folder = await tempHome();
    const at = (...path: string[]) => join(folder.path, ...path);
    const packed = "/$bunfs/root/gateway";
    await mkdir(at("src")); // such as /usr/local/src
    expect([isInCheckout(packed, at("bin", "pi-gw")), isInCheckout(at("dist", "main.js"), "bun")]).toEqual([
      false,
      false,
    ]);
    await writeFile(at("src", "gateway.ts"), "");
    expect([isInCheckout(packed, at("dist", "gateway")), isInCheckout(at("dist", "main.js"), "bun")]).toEqual([
      true,
      true,
    ]);
  });
});

/** A package of version 1.2.3 around a launcher, and an `npm` that does what `script` says. */
async function machine(script: string) {
  const folder = await tempHome();
  await mkdir(join(folder.path, "package", "dist"), { recursive: true });
  await mkdir(join(folder.path, "bin"));
  await writeFile(join(folder.path, "package", "dist", "version"), "1.2.3\n");
  await writeFile(join(folder.path, "bin", "npm"), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder.path, "bin", "npm"), 0o755);
  const home = join(folder.path, "home");
  await mkdir(home, { mode: 0o700 });
  const launcher = join(folder.path, "package", "bin", "pi-gw");
  const environment = {
    home,
    userHome: folder.path,
    path: `${join(folder.path, "bin")}:/usr/bin:/bin`,
    locale: {},
    transpilerCache: null,
    piPath: null,
    noColor: true,
    providerKeys: {},
    variables: (name: string) => (name === "PI_GATEWAY_LAUNCHER" ? launcher : undefined),
  };
  const fixture = await cliFixture({ environment });
  return {
    run: fixture.run,
    out: fixture.out,
    err: fixture.err,
    files: versionFiles(home),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("--check says whether there is a newer version, and changes nothing", async () => {
  await using it = await machine("echo 1.3.0");
  expect(await it.run("update", "--check")).toBe(0);
  expect(it.out()).toBe("Version 1.3.0 is there; this is 1.2.3. Update with: pi-gw update\n");
  expect(await it.run("update", "--check", "--json")).toBe(0);
  expect(it.out()).toEndWith(`${JSON.stringify({ version: "1.2.3", newest: "1.3.0", newer: true })}\n`);
});

test("an update without anything newer installs nothing", async () => {
  await using it = await machine("[ $1 = view ] && echo 1.2.3 || exit 9");
  expect(await it.run("update")).toBe(0);
  expect(it.out()).toBe("This is 1.2.3 already.\n");
});

test.each([
  ["npm fails", "echo no such host >&2; exit 1", "npm install did not work: no such host"],
  ["npm installs something else", "exit 0", "That is no package of pi-gateway"],
])("an update in which %s says so and switches nothing", async (_what, script, says) => {
  await using it = await machine(script);
  expect(await it.run("update", "1.3.0")).toBe(75);
  expect(it.err()).toContain(says);
  expect(it.err()).toContain("Nothing was changed.");
  expect(it.files.hasTrial()).toBe(false);
});

test("an update that was killed between its switch and the first start of the new version is forgotten by the next one", async () => {
  await using it = await machine("[ $1 = view ] && echo 1.2.3");
  it.files.beginTrial({ before: "base", next: "1.3.0", over: "1.2.3", switchedAt: 5 });
  expect(await it.run("update")).toBe(0);
  expect(it.files.hasTrial()).toBe(false);
});
