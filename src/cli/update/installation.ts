/** How this pi-gateway was installed, and whether `pi-gw update` can put another version in its place. Looks, and changes nothing. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { readSmall } from "../state-directory.ts";
import type { CliWorld } from "../world.ts";

/** Inside the single executable, where no other program can read. */
const PACKED = "/$bunfs/";

export interface Installation {
  /** Of the package that npm installed. */
  readonly launcher: string;
  /** The version of that package. */
  readonly installed: string;
}

interface InstallFacts {
  readonly launcher: string | undefined;
  /** The program that runs. */
  readonly main: string;
  readonly isCheckout: boolean;
}

/** Why this installation is not updated by the command; null: it is. Pure. */
export function whyNot({ launcher, main, isCheckout }: InstallFacts): string | null {
  if (main.startsWith(PACKED))
    return "This is the single executable. Put the new executable in its place, then: pi-gw restart";
  if (isCheckout)
    return "This is a checkout of the sources. Update it with: git pull && npm install, then: pi-gw restart";
  if (launcher === undefined)
    return "The command was not started by its launcher, so it cannot be replaced. Run it as pi-gw, as npm installed it.";
  return null;
}

export async function installationOf(world: Pick<CliWorld, "environment">): Promise<Installation> {
  const launcher = world.environment.variables("PI_GATEWAY_LAUNCHER");
  const isCheckout = existsSync(join(dirname(Bun.main), "..", "src")) && launcher === undefined;
  const reason = whyNot({ launcher, main: Bun.main, isCheckout });
  if (reason !== null || launcher === undefined)
    throw new GatewayError("bad_request", "not updated by the command", { say: reason ?? "" });
  const installed = (await readSmall(join(dirname(launcher), "..", "dist", "version")))?.trim();
  if (!installed)
    throw new GatewayError("bad_request", "the installed package is not whole", {
      say: `The package around ${launcher} is not whole. Install it again with npm.`,
    });
  return { launcher, installed };
}
