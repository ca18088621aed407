/** `pi-gw stop`, `restart`, `sign-in-link` and `open`: what is done to a gateway that runs. Each asks it first, so that no other process is meant. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import { visible } from "../observe/index.ts";
import { askGateway } from "./ask-gateway.ts";
import { EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { numberOf, textOf } from "./read-value.ts";
import { findGateway } from "./state-directory.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

/** Turns may finish (gateway.stopGraceMs, at most ten minutes), then replies are delivered and agents end. */
const STOP_MS = 11 * 60_000;
const LOOK_MS = 100;
/** The gateway holds its state directory as long as this is there. */
const PID_FILE = "gateway.pid";

export async function stop(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { home, pid } = await askGateway(world, flags, async (client, signal) => {
    await client.ask({ path: "/api/status" }, signal); // what answers with our token is the gateway, and not a process with an old number
    return client.gateway;
  });
  if (!tell(pid, "SIGTERM")) throw elsewhere(pid);
  if (!flags.json) world.stderr("Stopping: turns that run may finish …\n");
  const isGone = (): boolean => !existsSync(join(home, PID_FILE)) || !tell(pid, 0);
  await until(world, isGone, `The gateway (process ${pid}) has not stopped. Its log says why: pi-gw logs`);
  world.stdout(flags.json ? `${JSON.stringify({ stopped: true, pid })}\n` : "The gateway has stopped.\n");
  return EXIT_OK;
}

/** The same process begins again: its state directory is never free meanwhile, and the port stays the same. */
export async function restart(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { startedAt: before } = await findGateway(world, flags.home);
  await askGateway(world, flags, (client, signal) => client.ask({ method: "POST", path: "/api/restart" }, signal));
  if (!flags.json) world.stderr("Restarting: turns that run may finish …\n");
  const isBack = async (): Promise<boolean> => {
    const now = await findGateway(world, flags.home).catch(() => null); // between its end and its beginning there is none
    return now !== null && now.startedAt !== before;
  };
  await until(world, isBack, "The gateway has not come back. Its log says why: pi-gw logs");
  const { url } = await findGateway(world, flags.home);
  world.stdout(
    flags.json ? `${JSON.stringify({ restarted: true, url })}\n` : `${visible(`The gateway is back at ${url}.`)}\n`,
  );
  return EXIT_OK;
}

export async function signInLink(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { url, minutes } = await newLink(world, flags);
  world.stdout(flags.json ? `${JSON.stringify({ url, minutes })}\n` : `${visible(url)}\n`);
  if (!flags.json)
    world.stderr(`It works once, for ${minutes} minutes. Whoever has it is signed in as the operator.\n`);
  return EXIT_OK;
}

export async function openConsole(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { url } = await newLink(world, flags);
  const program = Bun.which(process.platform === "darwin" ? "open" : "xdg-open", { PATH: world.environment.path });
  const opened =
    program !== null && (await Bun.spawn([program, url], { stdio: ["ignore", "ignore", "ignore"] }).exited) === 0;
  if (opened) return EXIT_OK;
  world.stderr("No browser could be opened here. Open this link, which works once, for ten minutes:\n");
  world.stdout(`${visible(url)}\n`);
  return EXIT_FAILED;
}

interface SignInLink {
  readonly url: string;
  readonly minutes: number;
}

async function newLink(world: CliWorld, flags: CommonFlags): Promise<SignInLink> {
  const request = { method: "POST", path: "/api/sign-in-links" } as const;
  return askGateway(world, flags, async (client, signal) => {
    const answer = await client.ask(request, signal);
    const url = `${client.gateway.url}/#code=${encodeURIComponent(textOf(answer["code"]))}`;
    return { url, minutes: Math.round(numberOf(answer["expiresInMs"]) / 60_000) };
  });
}

/** False: there is no such process here. */
function tell(pid: number, signal: "SIGTERM" | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EPERM") throw notOurs(pid);
    return false; // it has ended, or runs on another machine or in a container
  }
}

async function until(world: CliWorld, isDone: () => boolean | Promise<boolean>, late: string): Promise<void> {
  using limit = world.clock.deadline(STOP_MS, () => new GatewayError("too_slow", "it took too long", { say: late }));
  while (!(await isDone())) await world.clock.sleep(LOOK_MS, limit.signal);
}

function elsewhere(pid: number): GatewayError {
  const say = `The gateway answers, but its process ${pid} is not here: it runs in a container or on another machine. Stop it there.`;
  return new GatewayError("not_found", "the process of the gateway is elsewhere", { say });
}

function notOurs(pid: number): GatewayError {
  return new GatewayError("forbidden", "the process belongs to another user", {
    say: `The gateway (process ${pid}) runs as another user. Stop it as that user.`,
  });
}
