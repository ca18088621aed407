/** `pi-gw completion`: prints what a shell needs to complete commands, options and their values. */
import type { Command } from "commander";
import { EXIT_OK } from "../exit-code.ts";
import type { CliWorld } from "../world.ts";
import { commandTree } from "./command-tree.ts";
import { type Shell, SHELLS } from "./scripts.ts";

export function completion(world: CliWorld, program: Command, shell: Shell): number {
  world.stdout(SHELLS[shell](commandTree(program)));
  return EXIT_OK;
}
