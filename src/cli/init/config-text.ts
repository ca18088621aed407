/** The first configuration file: few settings, each with a comment that says what it does. Pure. */
import type { Wishes } from "./choices.ts";

interface WrittenWishes extends Wishes {
  /** As the provider calls it; null: nothing is known. */
  readonly modelId: string | null;
  /** Where the key of a provider is kept, beside the configuration. */
  readonly keyFile: string | null;
}

const HEAD = `// Settings of pi-gateway. Comments stay when commands change the file.
// All settings with their defaults: docs/reference/config.md, or: pi-gw config get
// After a change: pi-gw config check. A running gateway takes most changes at once.`;

export function configText(wishes: WrittenWishes): string {
  const sections = [...modelSections(wishes), ...channelSection(wishes), rolesSection(wishes)];
  return `${HEAD}\n{\n${sections.join("\n\n")}\n}\n`;
}

function modelSections({ model, modelId, keyFile }: WrittenWishes): readonly string[] {
  if (model.kind === "demo")
    return [
      `  // Answers by rules and costs nothing. For a real model: pi-gw init --replace, or see docs/models.md
  "agent": { "model": "gwdemo/demo" },`,
    ];
  if (model.kind === "login")
    return [
      `  // The pi folder with your login; it also says which model answers.
  "agent": { "agentDir": ${JSON.stringify(model.folder)} },`,
    ];
  if (model.kind === "key")
    return [
      `  // Which model answers; /model in a chat chooses another one there.
  "agent": { "model": ${JSON.stringify(`${model.provider}/${modelId ?? ""}`)} },`,
      `  // The key is in a file of its own that only you can read.
  "models": { "keys": { ${JSON.stringify(model.provider)}: [{ "file": ${JSON.stringify(keyFile)} }] } },`,
    ];
  const key = model.key === null ? "any text" : model.key.reveal();
  return [
    `  // Your own model server. contextWindow is how much it can keep in mind, in tokens: make it fit your model.
  "models": {
    "providers": {
      "local": {
        "baseUrl": ${JSON.stringify(model.baseUrl)},
        "apiKey": ${JSON.stringify(key)},
        "models": [{ "id": ${JSON.stringify(modelId ?? "")}, "contextWindow": 32000, "maxTokens": 4096 }],
      },
    },
  },`,
  ];
}

function channelSection({ channel }: WrittenWishes): readonly string[] {
  if (channel === null) return [];
  const [name, setting] = channel.channel === "telegram" ? ["telegram", "botToken"] : ["discord", "token"];
  return [
    `  // Strangers get a code from the bot; you let them in with: pi-gw pairing approve CODE
  "channels": {
    "${name}": { "${setting}": ${JSON.stringify(channel.token.reveal())} },
  },`,
  ];
}

function rolesSection({ owners }: WrittenWishes): string {
  return `  // Owners may do everything from their chats, and are asked before risky tools run.
  "roles": { "owners": ${JSON.stringify(owners)} },`;
}
