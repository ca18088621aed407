#!/usr/bin/env node
// The `pi-gw` command: makes dist/ when the sources changed, then runs it with the project's own Bun. Decides nothing else.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import { SAFE_FLAGS, becomeBun, findBun, root } from "../scripts/bun.mjs";
import { isFresh } from "../scripts/stamp.mjs";

const main = join(root, "dist", "main.js");

// The command may run in a folder of strangers: its bunfig.toml (preload) and tsconfig.json (paths) could run code of theirs.
const OWN_SETTINGS = [`--config=${join(root, "bunfig.toml")}`, `--tsconfig-override=${join(root, "tsconfig.json")}`];
// A launcher that is killed must not leave a gateway behind that holds the port and the state directory.
const flags = [...SAFE_FLAGS, ...OWN_SETTINGS, "--no-orphans"];

if (!isFresh(root) && canBuild()) build();
becomeBun([...flags, main, ...process.argv.slice(2)]);

/** An installation owned by somebody else runs as it was built. */
function canBuild() {
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
  if (!bun) return; // becomeBun says so
  console.error(existsSync(main) ? "Building pi-gateway …" : "Building pi-gateway (first start) …");
  const built = spawnSync(bun, [...SAFE_FLAGS, join(root, "scripts", "bundle.ts")], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (built.status !== 0) process.exit(built.status ?? 1);
}
