/** A small project with our launcher and build scripts around a stand-in program, for testing them without the gateway. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const PROGRAM = `
const [first, ...rest] = process.argv.slice(2);
let signals = 0;
process.on("SIGTERM", () => {
  console.log("signal", ++signals);
  setTimeout(() => process.exit(9), 200);
});
console.log("program", JSON.stringify({ first, rest, stranger: process.env.STRANGER ?? null }));
if (first === "wait") setInterval(() => {}, 60_000);
else process.exitCode = Number(rest[0] ?? 0);
`;

export const LAUNCHERS = ["bin/pi-gw", "bin/pi-gw.mjs"] as const;
type Launcher = (typeof LAUNCHERS)[number];

export interface TinyProject extends Disposable {
  readonly root: string;
  /** A folder whose files try to run code in whoever is started there. */
  readonly hostile: string;
  write(path: string, text: string): void;
  /** By the shell, or by Node where there is none. */
  launch(by: Launcher, ...args: readonly string[]): Bun.Subprocess<"ignore", "pipe", "pipe">;
}

export function tinyProject(): TinyProject {
  const root = mkdtempSync(join(tmpdir(), "tiny-project-"));
  const ours = dirname(import.meta.dir);
  for (const name of ["bin", "scripts", "package.json", "package-lock.json", "bunfig.toml", "tsconfig.json"]) {
    cpSync(join(ours, name), join(root, name), { recursive: true });
  }
  symlinkSync(join(ours, "node_modules"), join(root, "node_modules"));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write("src/main.ts", PROGRAM);
  write("bridge/index.ts", "export const bridge = 1;\n");
  write("bridge/preload.ts", "export const preload = 1;\n");
  write("src/sdk/plugin.ts", "export type Plugin = () => void;\n");
  write("src/client/client.ts", "export type Client = () => void;\n");
  write("src/sandbox/launcher/launch.ts", "export const launch = 1;\n");
  write("src/mcp/client/host/host.ts", "export const host = 1;\n");
  write("src/sandbox/launcher/relay.ts", "export const relay = 1;\n");
  write(
    "console/index.html",
    '<!doctype html><html><body><script type="module" src="./main.ts"></script></body></html>',
  );
  write("console/style.css", "body { margin: 0; }\n");
  write("console/main.ts", 'document.title = "tiny";\n');
  write("console/docs-site.ts", 'document.title = "tiny help";\n');
  write("console/style/docs-site.css", "body { margin: 0; }\n");
  for (const page of ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/cli.md"])
    write(page, `# ${page}\n`);
  write("docs/images/none.txt", "");
  write("hostile/bunfig.toml", 'preload = ["./intruder.ts"]\n');
  write("hostile/tsconfig.json", '{ "compilerOptions": { "paths": { "*": ["./intruder.ts"] } } }\n');
  write("hostile/intruder.ts", 'console.log("intruder");\n');
  write("hostile/.env", "STRANGER=here\n");
  const hostile = join(root, "hostile");
  return {
    root,
    hostile,
    write,
    launch: (by, ...args) =>
      Bun.spawn([...(by === "bin/pi-gw" ? ["sh"] : [Bun.which("node") ?? process.execPath]), join(root, by), ...args], {
        cwd: hostile,
        stdio: ["ignore", "pipe", "pipe"],
      }),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
