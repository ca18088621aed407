import { describe, expect, test } from "bun:test";
import { launchOf, type LauncherPrograms, type LaunchOrder } from "./order.ts";
import { sandboxPolicy } from "./policy.ts";

const programs: LauncherPrograms = {
  unshare: "/usr/bin/unshare",
  setpriv: "/usr/bin/setpriv",
  shell: "/bin/sh",
  bun: ["/opt/bun", "--no-env-file"],
  launcher: "/opt/sandbox.js",
};
const env = {
  PATH: "/usr/bin",
  ANTHROPIC_API_KEY: "sk-secret",
  HOME: "/h",
  TMPDIR: "/t",
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: "/c",
  BUN_BE_BUN: "1",
  LD_PRELOAD: "/x.so",
  NODE_AUTH_TOKEN: "npm-secret",
};
const program = { argv: ["/opt/bun", "pi.js"], cwd: "/ws", env };

function launched(tier: "full" | "basic", network: "open" | "closed", argv = program.argv) {
  const limits = { processes: 64, memoryMb: 512, openFiles: 256, fileSizeMb: 64 };
  const places = { read: [], readIfThere: [], write: ["/ws"], list: [], limits };
  const made = sandboxPolicy("/state", {
    ...places,
    network: network === "open" ? { kind: "open" } : { kind: "closed", ports: [] },
  });
  if (!made.ok) throw new Error(made.say);
  const launch = launchOf(tier, made.policy, { ...program, argv }, programs);
  const at = launch.argv.indexOf("/opt/sandbox.js");
  return { launch, order: JSON.parse(launch.argv[at + 1] ?? "") as LaunchOrder, rest: launch.argv.slice(at + 2) };
}

describe("the command before a confined program", () => {
  test("makes namespaces in the full tier, with a network of its own only where the network is closed", () => {
    const open = launched("full", "open");
    expect(open.launch.argv.slice(0, 4)).toEqual(["/usr/bin/setpriv", "--pdeathsig", "KILL", "/usr/bin/unshare"]);
    expect(open.launch.argv).not.toContain("--net");
    expect(launched("full", "closed").launch.argv).toContain("--net");
    expect([open.launch.wrappers, open.rest]).toEqual([2, ["/opt/bun", "pi.js"]]);
  });

  test("is the launcher alone in the basic tier", () => {
    const { launch, rest } = launched("basic", "closed");
    expect(launch.argv[0]).toBe("/opt/bun");
    expect([launch.wrappers, rest]).toEqual([0, ["/opt/bun", "pi.js"]]);
  });

  test("begins outside of the workspace, and keeps from the launcher whatever would change how it starts", () => {
    const { launch, order } = launched("full", "open");
    expect(launch.cwd).toBe("/");
    const later = ["HOME", "TMPDIR", "BUN_RUNTIME_TRANSPILER_CACHE_PATH", "LD_PRELOAD", "NODE_AUTH_TOKEN"];
    expect(order.later).toEqual(later);
    const plain = ["PATH", "ANTHROPIC_API_KEY", "BUN_BE_BUN"];
    expect(Object.keys(launch.env).toSorted()).toEqual(
      [...plain, ...later.map((name) => `PI_GW_LATER_${name}`)].toSorted(),
    );
    expect(launch.env["PI_GW_LATER_HOME"]).toBe("/h");
    expect(order.keeps).toEqual(["PATH", "ANTHROPIC_API_KEY", "BUN_BE_BUN"]);
  });

  test("leaves out of a program that Bun does not run what makes an executable be Bun", () => {
    const { launch, order } = launched("full", "open", ["/usr/bin/server"]);
    expect(launch.env["BUN_BE_BUN"]).toBe("1"); // for the launcher itself
    expect(order.keeps).toEqual(["PATH", "ANTHROPIC_API_KEY"]);
  });

  test("holds no value of a variable, whatever its name: others can read argument lists", () => {
    const words = launched("full", "open").launch.argv.join(" ");
    for (const value of ["sk-secret", "npm-secret", "/x.so"]) expect(words).not.toContain(value);
  });
});
