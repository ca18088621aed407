// Makes dist/ when the sources changed, before it is run. Plain JavaScript without dependencies, because Node runs it as well as Bun.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import { SAFE_FLAGS, findBun, isCheckout, isStartedAs, root } from "./bun.mjs";
import { isFresh } from "./stamp.mjs";

export const main = join(root, "dist", "main.js");

/** The exit code; not 0: what was wrong has been said. */
export function makeReady() {
  return isFresh(root) || !canBuild() ? 0 : build();
}

/** A package, and an installation owned by somebody else, run as they were built. */
function canBuild() {
  if (!isCheckout()) return false;
  if (!existsSync(main)) return true;
  try {
    accessSync(join(root, "dist"), constants.W_OK);
    return true;
  } catch {
    return false; // read-only for us, which is an answer and not a fault
  }
}

function build() {
  const bun = findBun();
  if (!bun) return 0; // whoever runs it says so
  console.error(existsSync(main) ? "Building pi-gateway …" : "Building pi-gateway (first start) …");
  const built = spawnSync(bun, [...SAFE_FLAGS, join(root, "scripts", "bundle.ts")], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  return built.status ?? 1;
}

if (isStartedAs(import.meta.url)) process.exitCode = makeReady();
