/** `pi-gw mcp` as commander sees it. */
import type { Command } from "commander";
import type { McpServeFlags } from "./mcp-serve.ts";
import type { AddServerFlags } from "./mcp/edit-servers.ts";
import type { ServerFlags, TestServerFlags } from "./mcp/servers.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Common = (command: Command) => Command;

export function addMcp(
  program: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const mcp = program
    .command("mcp")
    .description("MCP servers whose tools agents get, and the gateway as an MCP server");
  mcp
    .command("serve")
    .description("speak MCP on stdin and stdout for a client that starts programs; the gateway has to run")
    .option("--home <folder>", "state directory of the gateway")
    .option("--key-file <file>", "a file with the key of a program, instead of the gateway's token")
    .action(async (flags: McpServeFlags) => {
      const { mcpServe } = await import("./mcp-serve.ts");
      finish(await mcpServe(world, flags));
    });
  ownServerOptions(
    common(
      mcp.command("add").description("write a server into the configuration file; without a name, list the presets"),
    )
      .argument("[name]", "small letters, digits and dashes; its tools are called mcp_NAME_TOOL")
      .argument("[command...]", "after --: a program that speaks MCP, and its arguments")
      .option("--preset <preset>", "one that is known: github, notion, slack, google-calendar, mail, browser")
      .option("--set <values...>", "NAME=VALUE that a preset needs"),
  )
    .option("--oauth", "it wants a login")
    .option("--config <file>", "configuration file")
    .action(async (name: string | undefined, command: string[], flags: AddServerFlags) => {
      const { addServer } = await import("./mcp/edit-servers.ts");
      finish(await addServer(world, name, command, flags));
    });
  common(mcp.command("list").description("show servers; with a name, its tools"))
    .argument("[name]")
    .action(async (name: string | undefined, flags: CommonFlags) => {
      const { listServers } = await import("./mcp/servers.ts");
      finish(await listServers(world, name, flags));
    });
  ownServerOptions(
    common(mcp.command("test").description("start a server now and list its tools; it need not be in the settings yet"))
      .argument("<name>")
      .argument("[command...]", "after --: tries this program instead of the settings, and writes nothing")
      .option("--accept", "take tools that are new or have changed as they are now"),
  ).action(async (name: string, command: string[], flags: TestServerFlags) => {
    const { testServer } = await import("./mcp/servers.ts");
    finish(await testServer(world, name, command, flags));
  });
  common(mcp.command("login").description("sign in to a server at an address, by a browser"))
    .argument("<name>")
    .option("--config <file>", "configuration file")
    .action(async (name: string, flags: ServerFlags) => {
      const { loginToServer } = await import("./mcp/servers.ts");
      finish(await loginToServer(world, name, flags));
    });
  common(mcp.command("remove").description("take a server out of the configuration file, and forget its login"))
    .argument("<name>")
    .option("--config <file>", "configuration file")
    .action(async (name: string, flags: AddServerFlags) => {
      const { removeServer } = await import("./mcp/edit-servers.ts");
      finish(await removeServer(world, name, flags));
    });
}

/** A server that is written down, or tried before it is. */
function ownServerOptions(command: Command): Command {
  return command
    .option("--url <address>", "a server at an address")
    .option("--header <headers...>", "NAME=VALUE that is sent to it")
    .option("--env <variables...>", "NAME=VALUE for the program; ${NAME} is taken from the gateway's environment")
    .option("--allow-host <hosts...>", "hosts that the program may reach")
    .option("--folder <folders...>", "folders that it may read, or with :write write as well");
}
