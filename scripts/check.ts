/** Types, lint, format, house rules and generated pages, side by side. One line per check; only failing ones say more. */
import { dirname } from "node:path";

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

interface Outcome {
  readonly name: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly output: string;
}

const NAME_WIDTH = 16;
const HOUSE_TESTS = ["./test/house.test.ts", "./test/architecture.test.ts"];
const bun = [process.execPath, "--no-env-file"];

function checksOf(): Check[] {
  return [
    { name: "types", command: [...bun, "check", "--no-script", "--no-pretty"] },
    { name: "types of console", command: [...bun, "check", "--no-script", "--no-pretty", "-p", "console"] },
    { name: "lint", command: [...bun, "node_modules/oxlint/bin/oxlint", "--deny-warnings"] },
    { name: "format", command: [...bun, "fmt", "--no-script", "--check"] },
    { name: "house rules", command: [...bun, "test", "--timeout=60000", "--only-failures", ...HOUSE_TESTS] },
    { name: "generated docs", command: [...bun, "scripts/docs.ts", "--check"] },
  ];
}

async function run(root: string, { name, command }: Check): Promise<Outcome> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const ms = Math.round(performance.now() - startedAt);
  return { name, ok: exitCode === 0, ms, output: `${stdout}${stderr}`.trim() };
}

function report({ name, ok, ms, output }: Outcome): void {
  console.log(`${ok ? "ok    " : "FAILED"}  ${name.padEnd(NAME_WIDTH)} ${ms} ms`);
  if (!ok) console.log(`${output}\n`);
}

async function checkAll(root: string): Promise<number> {
  const outcomes = await Promise.all(
    checksOf().map(async (check) => {
      const outcome = await run(root, check);
      report(outcome);
      return outcome;
    }),
  );
  const failed = outcomes.filter((outcome) => !outcome.ok).map((outcome) => outcome.name);
  console.log(failed.length === 0 ? "All checks pass." : `Not in order: ${failed.join(", ")}.`);
  return failed.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exit(await checkAll(dirname(import.meta.dir)));
