// Makes dist/ at the end of an install in a checkout, so that the first start is quick; in a package there is nothing to make. Never fails
// the install: the first start builds what is missing.
import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { SAFE_FLAGS, findBun, isCheckout, root } from "./bun.mjs";
import { isFresh } from "./stamp.mjs";

const COMMANDS = ["pi-gateway", "pi-gw"];

if (process.argv.includes("--help")) {
  console.log("npm run prepare\nBuilds dist/ and makes npx pi-gw work in this folder. npm install does it by itself.");
  process.exit(0);
}
if (isCheckout()) {
  buildDist();
  compileGateway();
  linkCommands();
}

function buildDist() {
  if (isFresh(root)) return;
  const bun = findBun();
  const built =
    bun && spawnSync(bun, [...SAFE_FLAGS, join(root, "scripts", "bundle.ts")], { cwd: root, stdio: "inherit" });
  if (!built || built.status !== 0)
    console.error("pi-gateway was not built during the install; the first start does it.");
}

/** A start takes half the time then. Machines that only build and test do not need it: it takes seconds and 130 MB. */
function compileGateway() {
  const bun = findBun();
  if (!bun || process.env.CI || process.platform === "win32") return;
  const script = join(root, "scripts", "compile.ts");
  const compiled = spawnSync(bun, [...SAFE_FLAGS, script], { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  if (compiled.status !== 0) console.error("pi-gateway was not compiled; it starts from dist/main.js.");
}

/** So that `npx pi-gw` finds the command here at once, instead of asking the registry for a package of that name. */
function linkCommands() {
  if (process.platform === "win32") return;
  for (const name of COMMANDS) {
    const link = join(root, "node_modules", ".bin", name);
    try {
      rmSync(link, { force: true });
      symlinkSync(join("..", "..", "bin", "pi-gw"), link);
    } catch (error) {
      console.error(`npx ${name} may be slow: ${link} could not be made (${error.code}).`);
    }
  }
}
