import { describe, expect, test } from "bun:test";
import type { ConfinedPlaces } from "../contracts/sandbox.ts";
import { sandboxPolicy, type SandboxPolicy } from "./policy.ts";

const HOME = "/home/me/.pi-gateway";
const limits = { processes: 64, memoryMb: 512, openFiles: 256, fileSizeMb: 64 };
const NOWHERE: ConfinedPlaces = {
  read: [],
  readIfThere: [],
  write: [],
  list: [],
  network: { kind: "open" },
  limits,
};

function policyOf(places: Partial<ConfinedPlaces>, home = HOME): SandboxPolicy {
  const made = sandboxPolicy(home, { ...NOWHERE, ...places });
  if (!made.ok) throw new Error(made.say);
  return made.policy;
}

describe("the policy of a confined program", () => {
  test("grants the system's programs and named files of /etc, and no folder of people, no secrets and no sockets", () => {
    const { readIfThere, devices, read, write } = policyOf({});
    expect(readIfThere).toContain("/usr");
    expect(readIfThere).toContain("/etc/passwd");
    for (const closed of [
      "/",
      "/etc",
      "/etc/shadow",
      "/etc/ssh",
      "/home",
      "/root",
      "/run",
      "/var",
      "/tmp",
      "/proc",
      "/sys",
    ])
      expect(readIfThere).not.toContain(closed);
    expect(devices).toEqual(["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]);
    expect([read, write]).toEqual([[], []]);
  });

  test.each([
    ["a folder twice", ["/a", "/a"], ["/a"]],
    ["a folder below another one", ["/a/b", "/a"], ["/a"]],
    ["a folder whose name begins like another one", ["/a", "/ab"], ["/a", "/ab"]],
  ])("names %s once", (_what, write, expected) => {
    expect(policyOf({ write }).write).toEqual(expected);
  });

  test("opens nothing on its own that lies in a folder the program writes, where a link may have taken its place", () => {
    const { read, readIfThere } = policyOf({
      write: ["/ws"],
      read: ["/ws/skill", "/lib/x"],
      readIfThere: ["/ws/more", "/srv/more"],
    });
    expect(read).toEqual(["/lib/x"]);
    expect(readIfThere).not.toContain("/ws/more");
    expect(readIfThere).toContain("/srv/more");
  });

  test.each([
    ["the state directory itself", { write: [HOME] }],
    ["the home directory around it", { write: ["/home/me"] }],
    ["everything", { read: ["/"] }],
  ])("is refused with a sentence when it would grant %s", (_what, places) => {
    const made = sandboxPolicy(HOME, { ...NOWHERE, ...places });
    expect(made.ok ? "" : made.say).toContain("contains the state directory");
  });

  test("is refused when a path is not absolute", () => {
    expect(sandboxPolicy(HOME, { ...NOWHERE, read: ["skills"] })).toEqual({
      ok: false,
      say: "skills is not an absolute path.",
    });
  });

  test("leaves a system folder out that holds the state directory", () => {
    expect(policyOf({}, "/opt/gateway/state").readIfThere).not.toContain("/opt");
    expect(policyOf({ list: ["/opt/gateway", "/usr/lib"] }, "/opt/gateway/state").list).toEqual(["/usr/lib"]);
  });
});
