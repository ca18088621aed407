/** `pi-gw token rotate`: a new operator token in place of the old one, in the running gateway or in its state directory. Prints no token. */
import { join } from "node:path";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import { visible } from "../observe/index.ts";
import { askGateway } from "./ask-gateway.ts";
import { configOfFile } from "./config-command.ts";
import { EXIT_OK } from "./exit-code.ts";
import { textOf } from "./read-value.ts";
import { homeOf, readSmall } from "./state-directory.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const AFTERWARDS = {
  "signed out": "Browsers that had signed in with it are signed out; a new link: pi-gw sign-in-link",
  "stay signed in": "Browsers that signed in with the password stay signed in.",
};

export async function tokenRotate(world: CliWorld, flags: CommonFlags): Promise<number> {
  const file = join(homeOf(flags.home, world.environment), "token");
  const browsers = (await rotatedByGateway(world, flags)) ?? (await rotatedInFile(world, flags, file));
  const sentence = `A new token is in ${file}; the old one is refused from now on. ${AFTERWARDS[browsers]}`;
  world.stdout(flags.json ? `${JSON.stringify({ rotated: true, file, browsers })}\n` : `${visible(sentence)}\n`);
  return EXIT_OK;
}

type Browsers = keyof typeof AFTERWARDS;

/** Null: no gateway runs. */
async function rotatedByGateway(world: CliWorld, flags: CommonFlags): Promise<Browsers | null> {
  try {
    const request = { method: "POST", path: "/api/token/rotate" } as const;
    const { browsers } = await askGateway(world, flags, (client, signal) => client.ask(request, signal));
    return textOf(browsers) === "stay signed in" ? "stay signed in" : "signed out";
  } catch (error) {
    if (isGatewayError(error) && error.code === "not_found") return null;
    throw error;
  }
}

/** The next start reads it. Sign-ins of browsers rest on the token, and end with it. */
async function rotatedInFile(world: CliWorld, flags: CommonFlags, file: string): Promise<Browsers> {
  if ((await readSmall(file)) === null)
    throw new GatewayError("not_found", "there is no token", {
      say: `There is no token at ${file} yet: the first start makes one.`,
    });
  const { gateway, store } = await configOfFile(world, flags);
  const { auth } = gateway;
  if (auth.token)
    throw new GatewayError("conflict", "token is configured", {
      say: "The token is set in the configuration (gateway.auth.token). Change it there.",
    });
  if (store.url)
    throw new GatewayError("conflict", "the token is shared", {
      say: "All gateways on the database have one token, so a running one has to tell the others. Start this gateway, then: pi-gw token rotate",
    });
  const { openSecretFiles } = await import("../store/index.ts"); // slow to load, and only needed here
  openSecretFiles({ ids: world.ids }, homeOf(flags.home, world.environment)).renewToken();
  return auth.mode === "password" ? "stay signed in" : "signed out";
}
