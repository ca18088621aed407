/** Folders and limits that the owner gives an agent behind the wall, with real pi and its shell. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentFixture, NOTHING_ADDED, providers } from "../testing/agent-fixture.ts";
import { says, startFakeProvider } from "../testing/fake-provider.ts";
import { testSandbox } from "../testing/confined-run.ts";
import { tempHome } from "../testing/temp-home.ts";

const LIMIT_MS = 60_000;
const LIMITS = NOTHING_ADDED.limits;
/** Two programs. Idle until the gateway has looked for the first time, after two seconds: what it counts begins there. */
const BUSY = "sleep 2; (while :; do :; done) & while :; do :; done";

async function wallHere(): Promise<boolean> {
  await using home = await tempHome();
  return (await testSandbox(home.path).wall()).report.tier !== "none";
}
const walled = await wallHere();

test.skipIf(!walled)(
  "an agent reads and writes the folders it was granted, each as far as that goes, and no folder beside them",
  async () => {
    await using outside = await tempHome();
    for (const name of ["read", "write", "beside"]) {
      mkdirSync(join(outside.path, name));
      writeFileSync(join(outside.path, name, "note.txt"), `${name} note`);
    }
    const at = (name: string) => join(outside.path, name, "note.txt");
    const command = ["read", "write", "beside"]
      .map(
        (name) =>
          `cat ${at(name)} 2>/dev/null || echo "no ${name}"; echo; { echo new > ${at(name)}; } 2>/dev/null && echo "wrote ${name}"`,
      )
      .join("; ");
    await using fake = await startFakeProvider(({ messages }) =>
      messages.at(-1)?.role === "tool" ? says("ok") : { kind: "tools", calls: [{ name: "bash", input: { command } }] },
    );
    const folders = (["read", "write"] as const).map((access) => ({
      path: join(outside.path, access),
      access,
      approval: "ask" as const,
    }));
    await using fx = await agentFixture({ tools: "full", folders }, providers(fake));
    await fx.turn("use the folders");
    const said = (fx.gate.admitted[0]?.end?.output ?? "")
      .split("\n")
      .filter((line) => /^(read|write|wrote|no) /.test(line));
    expect(said).toEqual(["read note", "write note", "wrote write", "no beside"]);
    expect(readFileSync(at("write"), "utf8")).toBe("new\n");
  },
  LIMIT_MS,
);

test.skipIf(!walled)(
  "programs of an agent have the limits that the owner set",
  async () => {
    const command = "ulimit -u; ulimit -n; head -c 20000000 /dev/zero > big; stat -c %s big";
    await using fake = await startFakeProvider(({ messages }) =>
      messages.at(-1)?.role === "tool" ? says("ok") : { kind: "tools", calls: [{ name: "bash", input: { command } }] },
    );
    const limits = { ...LIMITS, processes: 500, memoryMb: 2_048, openFiles: 1_000, fileSizeMb: 16 };
    await using fx = await agentFixture({ tools: "full", limits, tiers: ["full"] }, providers(fake));
    await fx.turn("show the limits");
    const said = (fx.gate.admitted[0]?.end?.output ?? "").split("\n");
    expect(said.slice(0, 2)).toEqual(["500", "1000"]);
    expect(said).toContain(String(16 * 1024 * 1024));
  },
  LIMIT_MS,
);

test(
  "a turn whose programs use more processor time than the owner allows is stopped with the reason",
  async () => {
    await using fake = await startFakeProvider(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? says("ok")
        : {
            kind: "tools",
            calls: [{ name: "bash", input: { command: BUSY } }],
          },
    );
    const limits = { ...LIMITS, cpuSecondsPerTurn: 1 };
    await using fx = await agentFixture({ tools: "full", limits }, providers(fake));
    const events = await fx.turn("count for ever");
    expect(events.at(-1)).toMatchObject({ type: "failed", code: "agent_busy_too_long" });
  },
  LIMIT_MS,
);

test.each([
  ["more than its files may take up", { workspaceMb: 16 }, "agent_files_too_large"],
  ["what the gateway's disk has to keep free", { freeDiskMb: 100_000_000 }, "disk_nearly_full"],
])(
  "a turn whose programs write %s is stopped at once with the reason",
  async (_what, more, code) => {
    const command = "for n in $(seq 30); do head -c 20000000 /dev/zero > $n; sleep 0.1; done";
    await using fake = await startFakeProvider(({ messages }) =>
      messages.at(-1)?.role === "tool" ? says("ok") : { kind: "tools", calls: [{ name: "bash", input: { command } }] },
    );
    await using fx = await agentFixture({ tools: "full", limits: { ...LIMITS, ...more } }, providers(fake));
    expect((await fx.turn("fill the disk")).at(-1)).toMatchObject({ type: "failed", code });
  },
  LIMIT_MS,
);

test("an agent whose granted folder is missing does not start, and says which one", async () => {
  await using fx = await agentFixture({ folders: [{ path: "/no/such/folder", access: "write", approval: "ask" }] });
  await expect(fx.turn("hello")).rejects.toThrow("/no/such/folder, which is listed in agent.folders, does not exist.");
});
