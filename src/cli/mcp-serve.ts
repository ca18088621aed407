/** `pi-gw mcp serve`: the MCP server of the running gateway on stdin and stdout, for clients that start a program. */
import { orAborted } from "../kit/deferred.ts";
import { EXIT_OK } from "./exit-code.ts";
import { openTarget } from "./key-file.ts";
import { createRelay } from "./mcp-relay.ts";
import { readLines } from "./read-lines.ts";
import { type CliWorld, type CommonFlags, onInterrupt } from "./world.ts";

export interface McpServeFlags extends Pick<CommonFlags, "home"> {
  readonly keyFile?: string;
}

/** Ends with its input, as the protocol asks of a server on stdio. */
export async function mcpServe(world: CliWorld, flags: McpServeFlags): Promise<number> {
  const relay = createRelay({
    clock: world.clock,
    target: await openTarget(world, flags),
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
