/** `pi-gw bridge export`: writes the running gateway's tools as an extension for somebody's own pi, into a folder that only they can read. */
import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type { ToolSpec } from "../contracts/tools/tool.ts";
import { askGateway } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";
import { extensionText } from "./extension-text.ts";

export interface ExportFlags extends CommonFlags {
  readonly out?: string;
}

const FILE = "pi-gateway-tools.js";
const DEFAULT_FOLDER = "bridge-export";
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

export async function bridgeExport(world: CliWorld, flags: ExportFlags): Promise<number> {
  const { gateway, answer } = await askGateway(world, flags, async (client, signal) => ({
    gateway: client.gateway,
    answer: await client.ask({ path: "/api/tools?callable=true" }, signal),
  }));
  const specs = exportedSpecs(answer);
  const folder = flags.out === undefined ? join(gateway.home, DEFAULT_FOLDER) : resolve(world.cwd, flags.out);
  const file = await writePrivate(folder, extensionText(specs, gateway.url), world.ids.next("draft"));
  if (flags.json) world.stdout(`${JSON.stringify({ file, tools: specs.map(({ name }) => name) })}\n`);
  else
    world.stdout(
      `${specs.length} ${specs.length === 1 ? "tool" : "tools"} written to ${file}\nUse them with: PI_GATEWAY_TOKEN=… pi -e ${file}\n`,
    );
  return EXIT_OK;
}

/** Tools that the gateway itself keeps back are not exported, nor those that are about a conversation: here there is none. */
export function exportedSpecs(answer: Fields): readonly ToolSpec[] {
  return listOf(answer["tools"]).flatMap((one) => specOf(recordOf(one)));
}

function specOf(listing: Fields): readonly ToolSpec[] {
  const { name, label, description, parameters, status, flags } = listing;
  if (textOf(name) === "" || status === "quarantined" || recordOf(flags)["inConversation"] === true) return [];
  return [
    {
      name: textOf(name),
      label: textOf(label) || textOf(name),
      description: textOf(description),
      parameters: recordOf(parameters),
    },
  ];
}

/** Never through a link, never half: written aside as a new file, then put in place. */
async function writePrivate(folder: string, text: string, draft: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const found = await lstat(folder);
  const mine = process.getuid === undefined || found.uid === process.getuid();
  if (!found.isDirectory() || !mine) {
    const say = `${folder} is not a folder of yours. Choose another with --out.`;
    throw new GatewayError("bad_request", say, { say });
  }
  await chmod(folder, PRIVATE_FOLDER);
  const aside = join(folder, `.${draft}`);
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  try {
    {
      await using file = await open(aside, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, PRIVATE_FILE);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(aside, join(folder, FILE));
  } finally {
    await rm(aside, { force: true });
  }
  return join(folder, FILE);
}
