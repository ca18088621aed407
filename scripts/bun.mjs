// Runs the project's own Bun, whether or not the package manager ran Bun's install script. Plain Node 20, no dependencies.
// Never reads a .env file of the folder it is started in.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { helpFor } from "./docs/script-help.mjs";

const STUB_MAX_BYTES = 1_000_000; // without its install script, the bun package holds a small stub that only prints an error
const SAME_SIGNAL_MS = 1_000;
const LAUNCH_FAILED = 127;

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Against files of the folder we are started in: no .env, no download of missing packages. */
export const SAFE_FLAGS = ["--no-env-file", "--no-install"];

/** Whether the sources are here. An installed package holds only what was built from them. */
export function isCheckout() {
  return existsSync(join(root, "src"));
}

/** The path of a Bun that can run, or null. */
export function findBun() {
  const folders = packageFolders();
  const installed = folders.map((folder) => join(folder, "bun", "bin", "bun.exe"));
  const builds = folders.flatMap((folder) => platformBuilds(join(folder, "@oven")));
  const candidates = [...installed, ...builds, ...onPath()];
  return candidates.find(isReal) ?? (process.versions.bun ? process.execPath : null);
}

/** Where npm may have put the packages we need: inside of this one, or, as its neighbours, in the folders that this one is installed in. */
function packageFolders() {
  const parts = root.split(sep);
  const above = parts.flatMap((part, index) => (part === "node_modules" ? [parts.slice(0, index + 1).join(sep)] : []));
  return [join(root, "node_modules"), ...above.reverse()];
}

/** Runs Bun with the terminal handed through and ends this process the way Bun ended. */
export function becomeBun(args) {
  const bun = findBun();
  if (!bun) return fail("Bun was not found. Run `npm install` in the pi-gateway folder, then try again.");
  forwardSignals((signal) => child.kill(signal)); // before there is a child: a signal in between would end this process alone
  const child = spawn(bun, args, { stdio: "inherit" });
  child.on("error", (error) => fail(`Bun did not start (${error.message}). Run \`npm install\` and try again.`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/**
 * A terminal sends Ctrl-C and hang-up to the whole process group, so the child has its copy already. Repeats within a second are one
 * wish: npm passes on a signal that was also sent to the group.
 */
function forwardSignals(forward) {
  const terminal = [0, 1, 2].some((fd) => isatty(fd));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    let lastAt = -SAME_SIGNAL_MS;
    process.on(signal, () => {
      const now = performance.now();
      if ((terminal && signal !== "SIGTERM") || now - lastAt < SAME_SIGNAL_MS) return;
      lastAt = now;
      forward(signal);
    });
  }
}

function platformBuilds(folder) {
  if (!existsSync(folder)) return [];
  const musl = process.platform === "linux" && !process.report?.getReport?.().header.glibcVersionRuntime;
  const names = readdirSync(folder).filter((name) => name.startsWith(`bun-${process.platform}-`));
  names.sort((a, b) => Number(b.includes("musl") === musl) - Number(a.includes("musl") === musl));
  return names.flatMap((name) => [join(folder, name, "bin", "bun"), join(folder, name, "bin", "bun.exe")]);
}

function onPath() {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => [join(folder, "bun"), join(folder, "bun.exe")]);
}

function isReal(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  return Boolean(found?.isFile() && found.size > STUB_MAX_BYTES);
}

function fail(message) {
  console.error(message);
  process.exit(LAUNCH_FAILED);
}

/** Whether this module is the program, and not a part of another. */
export function isStartedAs(moduleUrl) {
  const file = process.argv[1];
  return Boolean(file && existsSync(file) && realpathSync(file) === realpathSync(fileURLToPath(moduleUrl)));
}

if (isStartedAs(import.meta.url)) {
  const help = helpFor(process.argv.slice(2));
  if (help === null) becomeBun([...SAFE_FLAGS, ...process.argv.slice(2)]);
  else console.log(help);
}
