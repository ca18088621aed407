// Makes dist/ at the end of an install, so that the first start is quick. Never fails the install: the first start builds what is missing.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { SAFE_FLAGS, findBun, root } from "./bun.mjs";

const bun = findBun();
const built =
  bun && spawnSync(bun, [...SAFE_FLAGS, join(root, "scripts", "bundle.ts")], { cwd: root, stdio: "inherit" });
if (!built || built.status !== 0)
  console.error("pi-gateway was not built during the install; the first start does it.");
