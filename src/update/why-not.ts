/** Whether `pi-gw update` can put another version in the place of this installation. Looks, and changes nothing. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Inside the single executable, where no other program can read. */
const PACKED = "/$bunfs/";

interface InstallFacts {
  readonly launcher: string | undefined;
  /** The program that runs. */
  readonly main: string;
  readonly isCheckout: boolean;
}

/** Of the file that runs, `executable` when its code is packed into it: a checkout has its sources beside dist/, where npm compiles the gateway. */
export function isInCheckout(main: string, executable: string): boolean {
  const file = main.startsWith(PACKED) ? executable : main;
  return existsSync(join(dirname(file), "..", "src", "gateway.ts"));
}

/** Why this installation is not updated by the command; null: it is. */
export function whyNot({ launcher, main, isCheckout }: InstallFacts): string | null {
  if (isCheckout)
    return "This is a checkout of the sources. Update it with: git pull && npm install, then: pi-gw restart";
  if (main.startsWith(PACKED))
    return "This is the single executable. Put the new executable in its place, then: pi-gw restart";
  if (launcher === undefined)
    return "The command was not started by its launcher, so it cannot be replaced. Run it as pi-gw, as npm installed it.";
  return null;
}
