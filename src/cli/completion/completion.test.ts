/** Completion in a real bash, and scripts that the other shells can read. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { cliFixture } from "../../testing/cli-fixture.ts";

async function scriptFor(shell: string): Promise<string> {
  await using fx = await cliFixture();
  expect(await fx.run("completion", shell)).toBe(0);
  return fx.out();
}

/** What bash offers at the end of this line. */
async function offered(line: string): Promise<readonly string[]> {
  await using fx = await cliFixture();
  const file = join(fx.home, "completion.bash");
  await Bun.write(file, await scriptFor("bash"));
  const words = line.split(" ").map((word) => `'${word}'`);
  const run = `source ${file}; complete -p pi-gw >/dev/null || exit 1
    COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _pi_gw; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const bash = Bun.spawn(["bash", "--norc", "-c", run], { cwd: fx.home, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([new Response(bash.stdout).text(), new Response(bash.stderr).text()]);
  expect([err, await bash.exited]).toEqual(["", 0]);
  return out.trim().split("\n");
}

test.each([
  ["pi-gw st", ["start", "stop", "status", "storage", "store"]],
  ["pi-gw sessions exp", ["export"]],
  ["pi-gw sessions export --format ", ["markdown", "json", "html"]],
  ["pi-gw usage --by=x --by ", ["day", "agent", "origin", "model", "principal"]],
  ["pi-gw config edit --con", ["--config"]],
  ["pi-gw approvals decide some-id ", ["once", "session", "always", "deny", "--rule", "--home", "--json"]],
  ["pi-gw completion ", ["bash", "zsh", "fish"]],
])("bash offers what may follow %p", async (line, words) => {
  expect((await offered(line)).toSorted()).toEqual(words.toSorted());
});

test("bash offers files where a file is wanted", async () => {
  expect(await offered("pi-gw restore completion")).toContain("completion.bash");
});

test("every command is in the script of each shell", async () => {
  await using fx = await cliFixture();
  await fx.run();
  const names = [...fx.out().matchAll(/^ {2}([a-z-]+) .*/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "help");
  expect(names.length).toBeGreaterThan(25);
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = await scriptFor(shell);
    for (const name of names)
      expect([shell, name, new RegExp(`\\b${name}\\b`).test(script)]).toEqual([shell, name, true]);
  }
});
