/** How this pi-gateway was installed, and whether `pi-gw update` can put another version in its place. Looks, and changes nothing. */
import { dirname, join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { isInCheckout, whyNot } from "../../update/index.ts";
import { readSmall } from "../state-directory.ts";
import type { CliWorld } from "../world.ts";

export interface Installation {
  /** Of the package that npm installed. */
  readonly launcher: string;
  /** The version of that package. */
  readonly installed: string;
}

export async function installationOf(world: Pick<CliWorld, "environment">): Promise<Installation> {
  const launcher = world.environment.variables("PI_GATEWAY_LAUNCHER");
  const isCheckout = launcher === undefined && isInCheckout(Bun.main, process.execPath);
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
