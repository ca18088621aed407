/** The questions of `pi-gw init` to a person at a terminal. Enter takes what stands in brackets; a secret is not shown while it is typed. */
import { secret } from "../../kit/secret.ts";
import { askPerson, askSecret } from "../ask-person.ts";
import type { CliWorld } from "../world.ts";
import type { ChannelWish, ModelWish, SetupWishes } from "../../contracts/setup.ts";
import { refused } from "./choices.ts";

const MODEL_MENU = `Which model shall answer?
  1  a provider, with its key (Anthropic, OpenAI, Google, OpenRouter, …)
  2  a pi login that is on this machine
  3  a model server of your own (Ollama, vLLM, LM Studio, …)
  4  the demo model: answers by rules, costs nothing
`;
const CHANNEL_MENU = `From where shall people write, besides the web console?
  1  from nowhere else
  2  Telegram
  3  Discord
`;
const LOCAL_SERVER = "http://127.0.0.1:11434/v1";
const DEFAULT_LOGIN = "~/.pi/agent";

export async function askWishes(world: CliWorld): Promise<SetupWishes> {
  world.stderr(MODEL_MENU);
  const model = await askModel(world, await answerTo(world, "Number", "4"));
  world.stderr(CHANNEL_MENU);
  const channel = await askChannel(world, await answerTo(world, "Number", "1"));
  const owner =
    channel === null
      ? ""
      : await answerTo(world, `Your id on ${channel.channel} (${channel.channel}:user:…), empty for later`, "");
  return { model, channel, owners: owner === "" ? [] : [owner], backup: false };
}

async function askModel(world: CliWorld, number: string): Promise<ModelWish> {
  if (number === "1") {
    const provider = await answerTo(world, "Provider", "anthropic");
    const key = await askSecret(world, "Its key (not shown): ");
    return { kind: "key", provider, key: secret(needed(key)), model: await modelName(world) };
  }
  if (number === "2") return { kind: "login", folder: await answerTo(world, "Its pi folder", DEFAULT_LOGIN) };
  if (number === "3") {
    const baseUrl = (await answerTo(world, "Its address", LOCAL_SERVER)).replace(/\/+$/, "");
    const key = await askSecret(world, "Its key, or nothing (not shown): ");
    return { kind: "endpoint", baseUrl, key: key ? secret(key) : null, model: await modelName(world) };
  }
  if (number === "4") return { kind: "demo" };
  throw refused("Choose a number from 1 to 4.");
}

async function modelName(world: CliWorld): Promise<string | null> {
  return (await answerTo(world, "Model, or nothing to choose among those it lists", "")) || null;
}

async function askChannel(world: CliWorld, number: string): Promise<ChannelWish | null> {
  if (number === "1") return null;
  if (number !== "2" && number !== "3") throw refused("Choose a number from 1 to 3.");
  const channel = number === "2" ? "telegram" : "discord";
  const where = channel === "telegram" ? "from @BotFather" : "from Discord's developer portal";
  return { channel, token: secret(needed(await askSecret(world, `The bot's token ${where} (not shown): `))) };
}

async function answerTo(world: CliWorld, question: string, byDefault: string): Promise<string> {
  const answer = await askPerson(world, byDefault === "" ? `${question}: ` : `${question} [${byDefault}]: `);
  if (answer === null) throw refused("Cancelled; nothing was written.");
  return answer || byDefault;
}

function needed(text: string | null): string {
  if (text) return text;
  throw refused("Nothing was typed; nothing was written.");
}
