/** Completion in real shells: bash always, zsh and fish where they are installed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { cliFixture } from "../../testing/cli-fixture.ts";

async function scriptFor(shell: string): Promise<string> {
  await using fx = await cliFixture();
  expect(await fx.run("completion", shell)).toBe(0);
  return fx.out();
}

interface ShellRun {
  readonly cwd: string;
  /** The completion script. */
  readonly file: string;
  readonly line: string;
}

async function output(cwd: string, argv: readonly string[]): Promise<string> {
  const child = Bun.spawn([...argv], { cwd, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, HOME: cwd } });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect([err, await child.exited]).toEqual(["", 0]);
  return out;
}

async function bashOffers({ cwd, file, line }: ShellRun): Promise<readonly string[]> {
  const words = line.split(" ").map((word) => `'${word}'`);
  const run = `source ${file}; complete -p pi-gw >/dev/null || exit 1
    COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _pi_gw; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return (await output(cwd, ["bash", "--norc", "-c", run])).trim().split("\n");
}

/** An interactive zsh on a terminal of its own, in which Tab is pressed; what its completion adds is written down instead of shown. */
const ZSH = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'autoload -Uz compinit; compinit -u -d $HOME/.zcompdump'
zpty -w z "source $1"
zpty -w z 'end-line () { print END; exit; }; comppostfuncs=( end-line )'
zpty -w z 'compadd () { if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi; typeset -a hits; builtin compadd -A hits "$@"; for hit in $hits; do print -r -- "HIT $hit"; done }'
zpty -w z 'print PREP''ARED'
zpty -r z before '*PREPARED*'
zpty -w -n z "$2"$'\\t'
zpty -r z after '*END*'
print -r -- "$after"
zpty -d z
`;

async function zshOffers({ cwd, file, line }: ShellRun): Promise<readonly string[]> {
  const out = await output(cwd, ["zsh", "-f", "-c", ZSH, "zsh", file, line]);
  return [...out.matchAll(/HIT (.*?)\r?$/gm)].map(([, hit = ""]) => hit);
}

async function fishOffers({ cwd, file, line }: ShellRun): Promise<readonly string[]> {
  const out = await output(cwd, ["fish", "--no-config", "-c", `source ${file}; complete -C '${line}'`]);
  return out
    .trim()
    .split("\n")
    .map((hit) => hit.split("\t")[0] ?? "");
}

const SHELLS = [
  ["bash", bashOffers],
  ["zsh", zshOffers],
  ["fish", fishOffers],
] as const;

for (const [shell, offers] of SHELLS) {
  const isMissing = Bun.which(shell) === null;
  if (isMissing) console.warn(`Completion of ${shell} is not tested: ${shell} is not installed.`);

  describe.skipIf(isMissing)(`${shell}`, () => {
    let fx: Awaited<ReturnType<typeof cliFixture>>;
    let file = "";
    beforeAll(async () => {
      fx = await cliFixture();
      file = join(fx.home, `completion.${shell}`);
      await Bun.write(file, await scriptFor(shell));
    });
    afterAll(() => fx[Symbol.asyncDispose]());
    const offered = (line: string) => offers({ cwd: fx.home, file, line });

    test.each([
      ["pi-gw st", ["start", "stop", "status", "storage", "store"]],
      ["pi-gw sessions exp", ["export"]],
      ["pi-gateway sessions exp", ["export"]],
      ["pi-gw sessions export --format ", ["markdown", "json", "html"]],
      ["pi-gw usage --by day --by ", ["day", "agent", "origin", "model", "principal"]],
      ["pi-gw config edit --con", ["--config"]],
      ["pi-gw completion ", ["bash", "zsh", "fish"]],
    ])("offers what may follow %p", async (line, words) => {
      expect((await offered(line)).toSorted()).toEqual(words.toSorted());
    });

    test("offers the words of an argument after another argument", async () => {
      const words = await offered("pi-gw approvals decide some-id ");
      expect(words).toEqual(expect.arrayContaining(["once", "session", "always", "deny"]));
    });

    test.each(["pi-gw restore comp", "pi-gw chat --file comp"])(
      "offers files where a file is wanted: %s",
      async (line) => {
        expect(await offered(line)).toContain(`completion.${shell}`);
      },
    );
  });
}

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
