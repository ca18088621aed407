/** What Bun's closing lines say about a test process, and the one line that closes a whole run: `N passed, N failed`. */

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Reads Bun's closing lines. `exitCode` has the last word: a file that does not load fails the run without being counted. */
export function totalsOf(said: string, exitCode: number | null): Totals {
  const count = (word: string): number => {
    const lines = [...said.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))];
    return Number(lines.at(-1)?.[1] ?? 0);
  };
  const [passed, failed, skipped] = [count("pass"), count("fail"), count("skip")];
  const bad = exitCode !== 0 || passed + failed + skipped === 0;
  return { passed, failed: bad ? Math.max(failed, 1) : failed, skipped };
}

/** A run in which nothing was tried has failed. */
export function sumOf(all: readonly Totals[]): Totals {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const one of all) {
    sum.passed += one.passed;
    sum.failed += one.failed;
    sum.skipped += one.skipped;
  }
  return sum.passed + sum.failed === 0 ? { ...sum, failed: 1 } : sum;
}

/** `unsteady`: so many of those that passed had failed before, beside others. */
export function closingLine({ passed, failed, skipped }: Totals, unsteady = 0): string {
  const more = [skipped > 0 ? `, ${skipped} skipped` : "", unsteady > 0 ? `, ${unsteady} unsteady` : ""];
  return `${passed} passed, ${failed} failed${more.join("")}`;
}

/** The tests that failed, each with the file whose heading stands before it. Bun names them once more at the end, without files: that is left out. */
export function failuresIn(said: string): readonly { readonly file: string; readonly test: string }[] {
  const failures: { file: string; test: string }[] = [];
  let file = "";
  for (const line of said.split("\n")) {
    if (/^\d+ tests? failed:$/.test(line)) break;
    file = /^(?:\.\/)?(\S+\.test\.tsx?):$/.exec(line)?.[1] ?? file;
    const test = /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/.exec(line)?.[1];
    if (test !== undefined) failures.push({ file, test });
  }
  return failures;
}

/** Whether every test that failed in this output failed for its time alone. True when none did. */
export function failedForTimeAlone(said: string): boolean {
  const lines = said.split("\n");
  return lines.every((line, at) => !line.startsWith("(fail)") || /timed out/.test(lines[at + 1] ?? ""));
}
