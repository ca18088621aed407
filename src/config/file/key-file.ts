/** Keys of model providers in files of their own beside the configuration, which only the gateway's user can read. Refuses names that are no provider's. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import type { Secret } from "../../kit/secret.ts";
import { replaceFile } from "./write-file.ts";

const PRIVATE_FOLDER = 0o700;
/** As `models.keys` takes them. The name becomes part of a path. */
const PROVIDER = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function keyFileOf(home: string, provider: string): string {
  if (PROVIDER.test(provider)) return join(home, "keys", provider);
  throw new GatewayError("bad_request", "no name of a provider", {
    say: "A provider's name is one word in small letters, such as anthropic.",
  });
}

export async function writeKeyFile(file: string, key: Secret): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
  await replaceFile(file, `${key.reveal()}\n`);
}
