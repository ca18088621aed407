/** `pi-gw plugins list` and `pi-gw plugins reload`: the plugins of the running gateway, how they are, and starting one anew. */
import { visible } from "../../observe/index.ts";
import { askGateway, printList } from "../ask-gateway.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { type Fields, listOf, recordOf, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

export function listPlugins(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/plugins", {
    columns: [
      ["PLUGIN", ({ id }) => textOf(id)],
      ["STATE", ({ state }) => textOf(state)],
      ["VERSION", ({ version }) => textOf(version)],
      ["PROVIDES", providesText],
      ["TROUBLE", ({ trouble }) => textOf(trouble)],
    ],
    none: "There are no plugins.",
  });
}

export async function reloadPlugin(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  const path = `/api/plugins/${encodeURIComponent(id)}/reload`;
  const answer = await askGateway(world, flags, (client, signal) => client.ask({ method: "POST", path }, signal));
  const plugin = recordOf(answer["plugin"]);
  world.stdout(`${flags.json ? JSON.stringify(plugin) : visible(pluginLine(plugin))}\n`);
  return plugin["state"] === "failed" ? EXIT_FAILED : EXIT_OK;
}

function providesText({ provides }: Fields): string {
  const kinds = Object.entries(recordOf(provides)).flatMap(([kind, names]) => {
    const list = listOf(names).map(textOf);
    return list.length === 0 ? [] : [`${kind}: ${list.join(", ")}`];
  });
  return kinds.join("; ");
}

function pluginLine(plugin: Fields): string {
  const { id, state, version, trouble } = plugin;
  const parts = [textOf(id), textOf(state), textOf(version), providesText(plugin), textOf(trouble)];
  return parts.filter((part) => part !== "").join("  ");
}
