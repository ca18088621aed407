/** Which pages of program files are given back, and that a process works on without them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { droppable } from "./program-pages.ts";

interface Mapped {
  readonly permissions?: string;
  readonly path?: string;
  readonly rss?: number;
  readonly privateDirty?: number;
  readonly sharedDirty?: number;
  readonly anonymous?: number;
}

const smaps = ({
  permissions = "r-xp",
  path = "/usr/bin/bun",
  rss = 25_880,
  privateDirty = 0,
  sharedDirty = 0,
  anonymous = 0,
}: Mapped): string =>
  `00200000-00a00000 ${permissions} 00001000 fe:00 1234                       ${path}
Size:               8192 kB
Rss:               ${rss} kB
Shared_Clean:          0 kB
Shared_Dirty:          ${sharedDirty} kB
Private_Clean:     ${rss} kB
Private_Dirty:         ${privateDirty} kB
Anonymous:             ${anonymous} kB
VmFlags: rd ex mr mw me
`;

test.each<[string, Mapped, number]>([
  ["code of a program is given back", {}, 1],
  ["constants of a program are given back", { permissions: "r--p" }, 1],
  ["a program whose path has a blank in it is given back", { path: "/opt/my programs/bun" }, 1],
  ["what may be written stays", { permissions: "rw-p" }, 0],
  ["what others share for writing stays", { permissions: "r-xs" }, 0],
  ["memory without a file stays", { path: "" }, 0],
  ["memory of the kernel stays", { path: "[vdso]" }, 0],
  ["pages that the linker has changed stay", { permissions: "r--p", privateDirty: 12 }, 0],
  ["pages that another process has changed stay", { sharedDirty: 4 }, 0],
  ["copies of pages stay", { anonymous: 4 }, 0],
  ["a small mapping stays", { rss: 511 }, 0],
])("%s", (_name, mapped, count) => {
  expect(droppable(smaps(mapped))).toHaveLength(count);
});

test("a mapping is given back from its first byte to its last", () => {
  const others = smaps({ permissions: "rw-p" });
  expect(droppable(`${others}${smaps({})}${others}`)).toEqual([{ from: 0x200000n, bytes: 0x800000n }]);
});

test("a kernel that does not tell what was changed keeps everything", () => {
  expect(droppable(smaps({}).replace(/^Anonymous.*\n/m, ""))).toEqual([]);
});

test.if(process.platform === "linux")("a process holds less and works on", async () => {
  const program = `
    import { dropProgramPages } from ${JSON.stringify(join(import.meta.dir, "program-pages.ts"))};
    import { readFileSync } from "node:fs";
    const rssKb = () => Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
    const before = rssKb();
    dropProgramPages();
    const after = rssKb();
    const answer = await fetch(Bun.serve({ port: 0, fetch: () => new Response("works") }).url);
    console.log(JSON.stringify({ before, after, text: await answer.text() }));
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, "--no-env-file", "-e", program], { stdout: "pipe" });
  const { before, after, text } = JSON.parse(await new Response(child.stdout).text());
  expect(text).toBe("works");
  expect(before - after).toBeGreaterThan(8_000);
});
