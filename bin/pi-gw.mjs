#!/usr/bin/env node
// The `pi-gw` command where `bin/pi-gw` cannot run: without a shell, or when the bun package was installed without its script. Decides nothing else.
import { devNull } from "node:os";
import { join } from "node:path";
import { SAFE_FLAGS, becomeBun, isCheckout, root } from "../scripts/bun.mjs";
import { main, makeReady } from "../scripts/ready.mjs";

// The command may run in a folder of strangers: its bunfig.toml (preload) and tsconfig.json (paths) could run code of theirs.
const ownSettings = (name) => (isCheckout() ? join(root, name) : devNull);
const settings = [`--config=${ownSettings("bunfig.toml")}`, `--tsconfig-override=${ownSettings("tsconfig.json")}`];
// A launcher that is killed must not leave a gateway behind that holds the port and the state directory.
const flags = [...SAFE_FLAGS, ...settings, "--no-orphans"];

const code = makeReady();
if (code !== 0) process.exit(code);
becomeBun([...flags, main, ...process.argv.slice(2)]);
