/** A program of the gateway itself in a process of its own: not confined, given nothing but one connection, and over when that is. */
import { GatewayError } from "../../contracts/errors.ts";
import type { OwnProgram, OwnPrograms } from "../../contracts/programs.ts";
import type { Log } from "../../kit/log.ts";
import { connectDescriptor } from "../../kit/mux/descriptor.ts";
import type { MuxStream } from "../../kit/mux/mux.ts";
import { createTail } from "../../kit/tail.ts";

interface OwnProgramsOptions {
  /** How Bun is run, and with which variables. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
}

interface OwnProgramOptions extends OwnProgramsOptions {
  readonly file: string;
  /** The program opens a stream. */
  opened(stream: MuxStream, head: unknown): void;
}

const CONNECTION = 3;
const STDERR_KEPT_CHARS = 2_048;

export function createOwnPrograms(deps: { readonly log: Log }, { bun, bunEnv }: OwnProgramsOptions): OwnPrograms {
  return { start: (file, opened) => startOwnProgram(deps, { bun, bunEnv, file, opened }) };
}

/** It ends by itself when its connection does, so a gateway that is killed leaves none behind. */
function startOwnProgram({ log }: { readonly log: Log }, options: OwnProgramOptions): OwnProgram {
  const { bun, bunEnv, file, opened } = options;
  const child = Bun.spawn([...bun, file], {
    cwd: "/",
    env: { ...bunEnv },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    detached: true, // Ctrl-C in a terminal is for the gateway
  });
  const fd = child.stdio[CONNECTION];
  if (typeof fd !== "number") throw new GatewayError("internal", "a program of the gateway has no connection to it");
  const connection = connectDescriptor(fd, { side: "even", opened, closed: () => child.kill("SIGKILL") });
  const tail = createTail(STDERR_KEPT_CHARS);
  const finish = async (): Promise<string> => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of child.stderr) tail.push(decoder.decode(chunk, { stream: true }));
    } catch {
      // ended with the program
    }
    await child.exited;
    connection.close("the program has ended");
    log.debug("a program of the gateway has ended", { pid: child.pid, code: child.exitCode, words: tail.text() });
    return `it exited with code ${child.exitCode}`;
  };
  return { open: connection.open, ended: finish(), stop: () => connection.close("it is not needed any more") };
}
