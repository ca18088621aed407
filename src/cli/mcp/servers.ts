/** `pi-gw mcp list|test|login`: how MCP servers are, a try of one, and signing in to one. */
import { visible, visibleLines } from "../../observe/index.ts";
import { askGateway, printList } from "../ask-gateway.ts";
import { createClient } from "../client.ts";
import { EXIT_CONFIG, EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, shortText, textOf } from "../read-value.ts";
import { findGateway, homeOf } from "../state-directory.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { type OwnServerFlags, ownSettings } from "./own-settings.ts";

export interface ServerFlags extends CommonFlags {
  readonly config?: string;
}

export interface TestServerFlags extends CommonFlags, OwnServerFlags {
  readonly accept?: boolean;
}

/** A server may have to be downloaded by its own package manager first. */
const TEST_MS = 150_000;
const MAX_DESCRIPTION_CHARS = 200;

export async function listServers(world: CliWorld, name: string | undefined, flags: CommonFlags): Promise<number> {
  if (name === undefined)
    return printList(world, flags, "/api/mcp", {
      columns: [
        ["SERVER", (server) => textOf(server["name"])],
        ["STATE", ({ state }) => textOf(state)],
        ["TOOLS", toolsText],
        ["TROUBLE", ({ trouble }) => textOf(trouble)],
      ],
      none: "There are no MCP servers. Add one with: pi-gw mcp add",
    });
  const answer = await askGateway(world, flags, (client, signal) => client.ask({ path: "/api/mcp" }, signal));
  const server = listOf(answer["items"])
    .map(recordOf)
    .find((one) => one["name"] === name);
  if (server === undefined) {
    world.stderr(`${visible(`There is no MCP server called ${name}. pi-gw mcp list shows those that there are.`)}\n`);
    return EXIT_FAILED;
  }
  world.stdout(flags.json ? `${JSON.stringify(server)}\n` : `${visibleLines(detailsOf(server).join("\n"))}\n`);
  return EXIT_OK;
}

/** With `accept`, tools that are new or have changed are taken as they are now. With a command or an address, those are tried, and the settings stay as they are. */
export async function testServer(
  world: CliWorld,
  name: string,
  command: readonly string[],
  flags: TestServerFlags,
): Promise<number> {
  const isOwn = command.length > 0 || flags.url !== undefined;
  const settings = isOwn ? ownSettings(world.cwd, command, flags) : null;
  if (isOwn && (settings === null || flags.accept === true)) {
    world.stderr(
      "Say either --url ADDRESS or -- COMMAND ARGUMENTS…, and no --accept: nothing is written by such a try.\n",
    );
    return EXIT_FAILED;
  }
  const client = createClient(await findGateway(world, flags.home));
  using limit = world.clock.deadline(TEST_MS, () => new Error("The MCP server did not answer in time."));
  const path = `/api/mcp/${encodeURIComponent(name)}`;
  const edits = [{ path: ["mcp", "servers", name], value: settings }];
  const tested = isOwn
    ? await client.ask({ method: "POST", path: `${path}/try`, body: { edits } }, limit.signal)
    : await client.ask({ method: "POST", path: `${path}/test` }, limit.signal);
  const server =
    flags.accept === true ? await client.ask({ method: "POST", path: `${path}/accept` }, limit.signal) : tested;
  world.stdout(flags.json ? `${JSON.stringify(server)}\n` : `${visibleLines(detailsOf(server).join("\n"))}\n`);
  return EXIT_OK;
}

export async function loginToServer(world: CliWorld, name: string, flags: ServerFlags): Promise<number> {
  const { checkConfigText, findConfigFile } = await import("../../config/index.ts");
  const home = homeOf(flags.home, world.environment);
  const path = findConfigFile({ home, flag: flags.config, cwd: world.cwd });
  const text = path === null ? "{}" : await Bun.file(path).text();
  const servers = checkConfigText(text, world.environment.variables).config?.mcp.servers;
  const settings = servers !== undefined && Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (settings?.url === undefined) {
    world.stderr(
      `${visible(`There is no server ${name} with a url in mcp.servers; only those at an address have a login.`)}\n`,
    );
    return EXIT_CONFIG;
  }
  const { signIn } = await import("../../mcp/client/index.ts");
  const show = (url: URL): void => {
    world.stdout(`Open this address in a browser on this machine, and sign in:\n\n  ${visible(url.href)}\n\n`);
  };
  const tools = await signIn(
    { clock: world.clock, ids: world.ids, version: world.version, show },
    { home, name, settings },
  );
  world.stdout(`${visible(`Signed in to ${name}, which has ${tools} tools.`)}\n`);
  await tellGateway(world, name, flags);
  return EXIT_OK;
}

/** A gateway that runs uses the login at once; without one there is nobody to tell. */
async function tellGateway(world: CliWorld, name: string, flags: ServerFlags): Promise<void> {
  const gateway = await findGateway(world, flags.home).catch(() => null);
  if (gateway === null) return;
  using limit = world.clock.deadline(TEST_MS, () => new Error("The MCP server did not answer in time."));
  await createClient(gateway)
    .ask({ method: "POST", path: `/api/mcp/${encodeURIComponent(name)}/test` }, limit.signal)
    .catch(() => undefined); // the next call of a tool finds the login
}

function lineOf(server: Fields): string {
  const { name, state, trouble } = server;
  return `${textOf(name)}  ${textOf(state)}  ${toolsText(server)} tools${typeof trouble === "string" ? `  ${trouble}` : ""}`;
}

function toolsText({ tools }: Fields): string {
  const all = listOf(tools).map(recordOf);
  const waiting = all.filter(({ review }) => review === "new" || review === "changed").length;
  return waiting > 0 ? `${all.length} (${waiting} to review)` : String(all.length);
}

function detailsOf(server: Fields): readonly string[] {
  const about = [textOf(server["server"]), textOf(server["protocol"])].filter((one) => one !== "").join(", MCP ");
  const next = numberOf(server["nextTryAt"]);
  return [
    lineOf(server),
    ...(about === "" ? [] : [`  ${about}`]),
    ...(next > 0 ? [`  tried again at ${new Date(next).toISOString()}`] : []),
    ...listOf(server["notices"]).map((notice) => `  ${textOf(notice)}`),
    ...listOf(server["tools"]).map(recordOf).map(toolLine),
  ];
}

function toolLine({ name, description, digest, review, readOnly }: Fields): string {
  const marks = [readOnly === true ? "read-only" : "", review === "accepted" ? "" : textOf(review).replace("_", " ")];
  const shown = marks.filter((mark) => mark !== "").join(", ");
  const words = shortText(description, MAX_DESCRIPTION_CHARS);
  return `  ${textOf(name)}${shown === "" ? "" : ` (${shown})`} ${textOf(digest).slice(0, 12)}\n      ${words}`;
}
