/** Whether `pi-gw update` can put another version in the place of this installation. Pure. */

/** Inside the single executable, where no other program can read. */
const PACKED = "/$bunfs/";

interface InstallFacts {
  readonly launcher: string | undefined;
  /** The program that runs. */
  readonly main: string;
  readonly isCheckout: boolean;
}

/** Why this installation is not updated by the command; null: it is. */
export function whyNot({ launcher, main, isCheckout }: InstallFacts): string | null {
  if (main.startsWith(PACKED))
    return "This is the single executable. Put the new executable in its place, then: pi-gw restart";
  if (isCheckout)
    return "This is a checkout of the sources. Update it with: git pull && npm install, then: pi-gw restart";
  if (launcher === undefined)
    return "The command was not started by its launcher, so it cannot be replaced. Run it as pi-gw, as npm installed it.";
  return null;
}
