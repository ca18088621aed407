/**
 * Stands before a program that has a network of its own and may reach hosts: `bun sandbox.relay.js DESCRIPTOR PROGRAM ARGUMENTS…`. Opens a proxy
 * port there, tells the program of it, and passes everything on over the descriptor to the gateway, which decides. Reads nothing of what is said.
 */
import { connectDescriptor } from "../../kit/mux/descriptor.ts";
import { relayPort } from "../../kit/mux/relay-port.ts";
import { proxyVariables } from "../../kit/proxy-variables.ts";

const [descriptor, ...command] = process.argv.slice(2);
const connection = connectDescriptor(Number(descriptor), {
  side: "odd",
  opened: (stream) => stream.abort("nothing is served here"),
  closed: () => undefined, // connections of the program fail from now on, and say so
});
// for the program alone; Node asks for the second before it heeds the first
Object.assign(process.env, proxyVariables(`http://127.0.0.1:${relayPort(connection, 0, "host")}`), {
  NODE_USE_ENV_PROXY: "1",
});
delete process.env["BUN_BE_BUN"]; // for this program alone: another one made by Bun would become Bun
const program = Bun.spawn([...command], { stdio: ["inherit", "inherit", "inherit"], env: process.env });
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => program.kill(signal));
process.exit(await program.exited);
