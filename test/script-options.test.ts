/** Scripts of package.json that take options: a wrong one is answered with a sentence, and nothing is done. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const SCRIPT = /^node scripts\/bun\.mjs (\S+\.ts)$/;

const scripts = Object.entries(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts as object)
  .flatMap(
    ([name, command]) =>
      SCRIPT.exec(String(command))
        ?.slice(1)
        .map((file) => ({ name, file })) ?? [],
  )
  .filter(({ file }) => readFileSync(join(ROOT, file), "utf8").includes("scriptOptions("));

const run = async (file: string, ...args: readonly string[]) => {
  const child = Bun.spawn([process.execPath, "--no-env-file", join(ROOT, file), ...args], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, complained] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, said, complained };
};

test("the scripts that take options are found", () => {
  expect(scripts.map(({ name }) => name).toSorted()).toEqual(
    ["bench", "chaos", "cron-oracle", "mutants", "nodes", "queue-engines", "sim", "soak", "update-kills"].toSorted(),
  );
});

describe.each(scripts)("npm run $name", ({ name, file }) => {
  test("an option that is not known ends it with a sentence, its help and code 2", async () => {
    const { code, said, complained } = await run(file, "--sedes", "5");
    expect(code).toBe(2);
    expect(said).toBe("");
    expect(complained).toStartWith("Unknown option '--sedes'");
    expect(complained).toContain(`npm run ${name}`);
    expect(complained).not.toMatch(/^\s+at /m);
  });
});

test("a number that is none ends a script with a sentence, its help and code 2", async () => {
  const { code, complained } = await run("verification/sim/sim.ts", "--seeds", "many");
  expect(code).toBe(2);
  expect(complained).toStartWith('--seeds takes a whole number, and "many" is none.\n\nnpm run sim');
});
