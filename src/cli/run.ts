/** Runs one command line and gives its exit code. Whatever goes wrong ends as one sentence on stderr, never as a stack. */
import { isGatewayError } from "../contracts/errors.ts";
import { visibleLines } from "../observe/index.ts";
import { EXIT_FAILED, EXIT_OK, exitCodeFor } from "./exit-code.ts";
import type { CliWorld } from "./world.ts";

/** `argv` without the program's own name. */
export async function runCli(argv: readonly string[], world: CliWorld): Promise<number> {
  const [first] = argv;
  if (argv.length === 1 && (first === "--version" || first === "-V")) {
    world.stdout(`${world.version}\n`);
    return EXIT_OK;
  }
  const commander = await import("commander");
  const { buildProgram, withDefaultCommand } = await import("./program.ts");
  let code = EXIT_OK;
  const finish = (exitCode: number) => {
    code = exitCode;
  };
  const program = buildProgram(commander, world, finish, first);
  if (argv.length === 0) {
    program.outputHelp();
    return EXIT_OK;
  }
  try {
    await program.parseAsync([...withDefaultCommand(program, argv)], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof commander.CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_FAILED;
    return fail(world, argv, error);
  }
}

function fail(world: CliWorld, argv: readonly string[], error: unknown): number {
  const code = isGatewayError(error) ? error.code : "failed";
  const message = isGatewayError(error) ? error.say : unexpected(error);
  if (argv.includes("--json")) world.stderr(`${JSON.stringify({ event: "error", code, message })}\n`);
  else world.stderr(`${visibleLines(message)}\n`);
  return exitCodeFor(error);
}

function unexpected(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
