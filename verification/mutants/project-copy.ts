/** A copy of the project that bugs are put into, one at a time, and taken out of again. The project itself is never touched. */
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CodeChange, withBug } from "./seeded-bug.ts";

export interface ProjectCopy extends AsyncDisposable {
  readonly path: string;
  /** What `run` answers while the bug is in the copy. Throws when the bug does not fit. */
  tryBug<T>(bug: CodeChange, run: () => Promise<T>): Promise<T>;
}

const COPIED = ["src", "bridge", "console", "scripts", "test", "verification", "examples", "docs", "bin"];
const FILES = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "bunfig.toml",
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
];

export async function copyProject(root: string): Promise<ProjectCopy> {
  const copy = await mkdtemp(join(tmpdir(), "pi-gateway-mutants-"));
  for (const name of [...COPIED, ...FILES]) await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  return {
    path: copy,
    async tryBug(bug, run) {
      const path = join(copy, bug.file);
      const text = await Bun.file(path).text();
      const changed = withBug(text, bug);
      if (changed.text === null) throw new Error(changed.why);
      await Bun.write(path, changed.text);
      try {
        return await run();
      } finally {
        await Bun.write(path, text);
      }
    },
    [Symbol.asyncDispose]: () => rm(copy, { recursive: true, force: true }),
  };
}
