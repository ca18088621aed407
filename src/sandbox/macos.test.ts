import { describe, expect, test } from "bun:test";
import type { SandboxNetwork } from "../contracts/sandbox.ts";
import { macosProfile } from "./macos.ts";
import { sandboxPolicy } from "./policy.ts";

function profileOf(network: SandboxNetwork): string {
  const made = sandboxPolicy("/Users/me/state", {
    read: ["/Users/me/app/node_modules"],
    readIfThere: [],
    write: ['/Users/me/state/work "space"'],
    list: [],
    network,
    limits: { processes: 64, memoryMb: 512, openFiles: 256, fileSizeMb: 64 },
  });
  if (!made.ok) throw new Error(made.say);
  return macosProfile(made.policy);
}

describe("the profile for sandbox-exec", () => {
  test("denies everything first, and names what may be read and written, with quotes escaped", () => {
    const lines = profileOf({ kind: "closed", ports: [] }).split("\n");
    expect(lines.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
    const written = lines.slice(lines.indexOf("(allow file-write*"));
    expect(written[1]).toBe('  (subpath "/Users/me/state/work \\"space\\""))');
    expect(lines).toContain('  (subpath "/Users/me/app/node_modules")');
    expect(lines.join("\n")).not.toContain('(subpath "/Users/me/state")');
  });

  test.each([
    [{ kind: "closed", ports: [] }, []],
    [{ kind: "closed", ports: [4711] }, ['(allow network-outbound (remote ip "localhost:4711"))']],
    [{ kind: "open" }, ["(allow network-outbound (remote ip))"]],
  ] as const)("of a network %j allows these connections: %j", (network, expected) => {
    const allowed = profileOf(network)
      .split("\n")
      .filter((line) => line.includes("network-outbound"));
    expect(allowed).toEqual([...expected]);
  });
});
