/** `pi-gw mcp serve`: the MCP server of the running gateway on stdin and stdout, for clients that start a program. */
import { GatewayError } from "../contracts/errors.ts";
import { orAborted } from "../kit/deferred.ts";
import { EXIT_OK } from "./exit-code.ts";
import { createRelay } from "./mcp-relay.ts";
import { readLines } from "./read-lines.ts";
import { findGateway, readSmall } from "./state-directory.ts";
import { type CliWorld, type CommonFlags, onInterrupt } from "./world.ts";

export interface McpServeFlags extends Pick<CommonFlags, "home"> {
  /** A file with the key of a program, instead of the operator's token. */
  readonly keyFile?: string;
}

/** Ends with its input, as the protocol asks of a server on stdio. */
export async function mcpServe(world: CliWorld, { home, keyFile }: McpServeFlags): Promise<number> {
  const key = keyFile === undefined ? null : await readKey(keyFile);
  await findGateway(world, home); // a client that starts this shows its first sentence on stderr
  const relay = createRelay({
    clock: world.clock,
    async target() {
      const { url, token } = await findGateway(world, home);
      return { url, token: key ?? token.reveal() };
    },
    write: (message) => world.stdout(`${JSON.stringify(message)}\n`),
  });
  const lines = readLines(world.stdin);
  const leaving = new AbortController();
  using _interrupt = onInterrupt(world, () => leaving.abort());
  for (;;) {
    const next = await orAborted(lines.next(), leaving.signal).catch((error: unknown) => {
      if (leaving.signal.aborted) return null;
      throw error;
    });
    if (next === null || next.done) break;
    if (next.value.trim() !== "") relay.take(next.value);
  }
  await relay.close();
  return EXIT_OK;
}

async function readKey(file: string): Promise<string> {
  const key = (await readSmall(file))?.trim();
  if (key) return key;
  throw new GatewayError("bad_request", "no key in the file", {
    say: `There is no key in ${file}. Make one with: pi-gw keys add NAME --scope tools`,
  });
}
