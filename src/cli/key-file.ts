/** Whom a command acts for, for as long as it runs: the gateway as it is found each time, with its token or with the key of a program. */
import { GatewayError } from "../contracts/errors.ts";
import { findGateway, readSmall } from "./state-directory.ts";
import type { CliWorld } from "./world.ts";

interface GatewayTarget {
  readonly url: string;
  readonly token: string;
}

interface TargetFlags {
  readonly home?: string;
  /** A file with the key of a program, instead of the operator's token. */
  readonly keyFile?: string;
}

/** Other characters cannot be sent in a header. */
const ONE_KEY = /^[\x21-\x7e]+$/;

/** Throws the sentence that a person needs when no gateway runs, or the file has no key. */
export async function openTarget(
  world: Pick<CliWorld, "environment">,
  { home, keyFile }: TargetFlags,
): Promise<() => Promise<GatewayTarget>> {
  const key = keyFile === undefined ? null : await readKey(keyFile);
  await findGateway(world, home); // whoever starts the command is told at once
  return async () => {
    const { url, token } = await findGateway(world, home);
    return { url, token: key ?? token.reveal() };
  };
}

async function readKey(file: string): Promise<string> {
  const key = (await readSmall(file))?.trim() ?? "";
  if (ONE_KEY.test(key)) return key;
  if (key !== "")
    throw new GatewayError("bad_request", "more than a key in the file", {
      say: `${file} must hold one key and nothing else. Make it with: pi-gw keys add NAME --scope tools chat > FILE`,
    });
  throw new GatewayError("bad_request", "no key in the file", {
    say: `There is no key in ${file}. Make one with: pi-gw keys add NAME --scope tools chat > ${file}`,
  });
}
