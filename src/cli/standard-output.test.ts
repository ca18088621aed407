/** The output of a gateway, in a process of its own: it outlives its reader. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const TALKING = `
import { createLastingOutput } from ${JSON.stringify(join(import.meta.dir, "standard-output.ts"))};
const say = createLastingOutput();
say("ready\\n");
for await (const _ of Bun.stdin.stream()) break; // the reader says when it is gone
for (let n = 0; n < 3; n++) {
  say("again\\n");
  await new Promise((resolve) => setImmediate(resolve));
}
console.error("goes on");
`;

test("a gateway whose reader is gone goes on, and a line that nobody reads is lost", async () => {
  const argv = [process.execPath, "--no-env-file", "-e", TALKING];
  const child = Bun.spawn(argv, { stdio: ["pipe", "pipe", "pipe"] });
  const reader = child.stdout.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("ready\n");
  await reader.cancel(); // as `| head -1` does
  child.stdin.write("gone\n");
  await child.stdin.end();
  expect(await new Response(child.stderr).text()).toBe("goes on\n");
  expect(await child.exited).toBe(0);
});
