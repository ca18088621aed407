/** Tells a running gateway that its configuration file has changed, so that the next command finds the change in effect. Says so when it is not. */
import { isGatewayError } from "../contracts/errors.ts";
import { visible } from "../observe/index.ts";
import { askGateway } from "./ask-gateway.ts";
import { listOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

/** A gateway notices a changed file after a moment by itself. */
export async function tellGateway(world: CliWorld, flags: CommonFlags): Promise<void> {
  try {
    const reload = { method: "POST", path: "/api/config/reload" } as const;
    const { problems, needsRestart } = await askGateway(world, flags, (client, signal) => client.ask(reload, signal));
    for (const problem of listOf(problems)) world.stderr(`${visible(`Not in effect yet: ${textOf(problem)}`)}\n`);
    const later = listOf(needsRestart).map(textOf);
    if (later.length > 0) world.stderr(`${visible(`In effect after a restart: ${later.join(", ")}`)}\n`);
  } catch (error) {
    if (isGatewayError(error) && error.code === "not_found") return; // none runs, and the next start reads the file
    const reason = isGatewayError(error) ? error.say : "It did not answer.";
    world.stderr(`${visible(`The running gateway was not told, and reads the file by itself soon. ${reason}`)}\n`);
  }
}
