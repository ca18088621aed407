import { expect, test } from "bun:test";
import { join } from "node:path";

/** In a process of its own, because the threshold is one of the whole process. Prints how often each function was compiled. */
const PROGRAM = `
  import { numberOfDFGCompiles } from "bun:jsc";
  import { compileAsUsual, compileLater } from ${JSON.stringify(join(import.meta.dir, "compile-threshold.ts"))};
  const made = (first) => new Function("n", "let sum = " + first + "; for (let at = 0; at < n; at++) sum += at; return sum;");
  const use = (code) => { for (let at = 0; at < 60; at++) code(200); return numberOfDFGCompiles(code); };
  compileLater();
  const during = use(made(1));
  compileAsUsual();
  console.log(JSON.stringify({ during, after: use(made(2)) }));
`;

test("a start leaves code to the interpreter, and code that runs after it is compiled as usual", () => {
  const env = { ...process.env, BUN_JSC_useConcurrentJIT: "0" }; // compiled at once, and not by another thread some time later
  const { stdout } = Bun.spawnSync([process.execPath, "-e", PROGRAM], { env });
  const { during, after } = JSON.parse(stdout.toString()) as { during: number; after: number };
  expect(during).toBe(0);
  expect(after).toBeGreaterThan(0);
});
