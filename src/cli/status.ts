/** `pi-gw status` and `pi-gw metrics`: what the running gateway says about itself, in a few lines or in numbers. */
import { visible } from "../observe/index.ts";
import { askGateway } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export async function status(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { url, pid, answer } = await askGateway(world, flags, async (client, signal) => ({
    url: client.gateway.url,
    pid: client.gateway.pid,
    answer: await client.ask({ path: "/api/status" }, signal),
  }));
  const text = flags.json
    ? JSON.stringify({ url, pid, ...answer })
    : statusLines(answer, url, world.clock.now()).map(visible).join("\n");
  world.stdout(`${text}\n`);
  return EXIT_OK;
}

/** `pi-gw metrics`: as Prometheus reads them, or what the web console shows as JSON. */
export async function metrics(world: CliWorld, flags: CommonFlags): Promise<number> {
  const text = await askGateway(world, flags, async (client, signal) =>
    flags.json
      ? `${JSON.stringify(await client.ask({ path: "/api/metrics" }, signal))}\n`
      : client.text("/metrics", signal),
  );
  world.stdout(text);
  return EXIT_OK;
}

function statusLines(status: Fields, url: string, now: number): readonly string[] {
  const [pool, queue, outbox, model] = ["pool", "queue", "outbox", "model"].map((key) => recordOf(status[key]));
  const count = (from: Fields | undefined, key: string) => numberOf(from?.[key]);
  const channels = listOf(status["channels"]).map((channel) => channelText(recordOf(channel)));
  const demo = model?.["demo"] === true ? " (demo: set a provider's key for a real one)" : "";
  const reason = textOf(pool?.["maxBecause"]);
  const because = reason === "" ? "" : ` (${reason})`;
  return [
    `pi-gateway ${textOf(status["version"])} at ${url}, up ${durationText(numberOf(status["uptimeMs"]))}`,
    `node      ${textOf(recordOf(status["node"])["name"])}`,
    `model     ${textOf(model?.["name"]) || "not known yet"}${demo}`,
    `agents    ${count(pool, "busy")} busy, ${count(pool, "idle")} idle, ${count(pool, "starting")} starting, at most ${count(pool, "max")}${because}`,
    `sandbox   ${sandboxText(recordOf(status["sandbox"]))}`,
    `queue     ${count(queue, "waiting")} waiting, ${count(queue, "running")} running`,
    `replies   ${count(outbox, "pending")} to deliver`,
    `channels  ${channels.join(", ") || "none"}`,
    ...backupLines(recordOf(status["backup"]), now),
    ...listOf(status["mcp"]).map((server) => `mcp       ${mcpText(recordOf(server))}`),
    ...listOf(status["notices"]).map((notice) => `note      ${textOf(notice)}`),
  ];
}

/** Nothing where no backups are made. Why one failed is among the notices. */
function backupLines({ everyMs, newestAt, folder }: Fields, now: number): readonly string[] {
  if (typeof everyMs !== "number") return [];
  const newest = typeof newestAt === "number" ? `${durationText(Math.max(0, now - newestAt))} ago` : "none yet";
  return [`backups   every ${durationText(everyMs)}, the newest ${newest}, in ${textOf(folder)}`];
}

function sandboxText(sandbox: Fields): string {
  if (textOf(sandbox["setting"]) === "off") return "off: agent processes are not confined";
  return `${textOf(sandbox["tier"]) || "none"}: ${textOf(sandbox["because"])}`;
}

function mcpText({ name, state, tools, trouble }: Fields): string {
  const line = `${textOf(name)}: ${textOf(state)}, ${numberOf(tools)} tools`;
  return typeof trouble === "string" ? `${line}. ${trouble}` : line;
}

function channelText(channel: Fields): string {
  return channel["ok"] === true
    ? `${textOf(channel["id"])} ok`
    : `${textOf(channel["id"])}: ${textOf(channel["detail"])}`;
}

export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(" ");
}
