/** The settings that a setup makes of what a person wants, each with a comment that says what it does. Pure. */
import { DEMO_MODEL } from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { ChannelWish, ModelWish, SetupWishes } from "../contracts/setup.ts";

interface Given {
  /** As the provider calls it; null: none is known, or none is needed. */
  readonly modelId: string | null;
  /** Where the key of a provider is kept; null: there is none. */
  readonly keyFile: string | null;
  /** What the file says now: names of endpoints and owners are added to those that are there. */
  readonly config: Pick<Config, "models" | "roles">;
}

/** `value` undefined: the setting is taken away. The comment stands above a section that is new in the file. */
interface CommentedEdit {
  readonly keys: readonly string[];
  readonly value: unknown;
  readonly comment: string;
}

/** Of what a provider lists, when nobody has said which: the first whose name begins so. */
const GOOD_MODELS = [
  "claude-sonnet",
  "claude",
  "gpt-5",
  "gpt-4",
  "gemini-2.5-pro",
  "gemini",
  "mistral-large",
  "grok",
  "deepseek-chat",
  "llama",
];
const AGENT = "Which model answers; /model in a chat chooses another one there.";
const DEMO =
  "The demo model answers by rules and costs nothing. For a real model: pi-gw init --replace, or Setup in the web console.";
const LOGIN = "The pi folder with your login; it also says which model answers.";
const KEYS = "The key is in a file of its own that only you can read.";
const SERVER =
  "Your own model server. contextWindow is how much it can keep in mind, in tokens: make it fit your model.";
const CHANNELS = "Strangers get a code from the bot; you let them in with: pi-gw pairing approve CODE";
const ROLES = "Owners may do everything from their chats, and are asked before risky tools run.";
const BACKUP =
  "The gateway makes a backup by itself this often. Set folder to another disk, so that it helps when this one fails.";

export function setupEdits(wishes: SetupWishes, given: Given): readonly CommentedEdit[] {
  return [
    ...(wishes.model ? modelEdits(wishes.model, given) : []),
    ...(wishes.channel ? [channelEdit(wishes.channel)] : []),
    ...(wishes.owners.length > 0 ? [ownersEdit(wishes.owners, given.config.roles.owners)] : []),
    ...(wishes.backup ? [{ keys: ["backup", "every"], value: "1d", comment: BACKUP }] : []),
  ];
}

/** Which model of those that are listed; null: none is listed, and nobody said which. Throws when one is needed and there is none. */
export function modelChosen(wish: ModelWish | null, listed: readonly string[]): string | null {
  if (wish === null || wish.kind === "demo" || wish.kind === "login") return null;
  const chosen = wish.model ?? goodModel(listed);
  if (chosen !== null) return chosen;
  throw new GatewayError("bad_request", "no model is known", {
    say: "Say which model shall answer: none is listed.",
  });
}

function goodModel(listed: readonly string[]): string | null {
  const good = GOOD_MODELS.map((begin) => listed.find((id) => (id.split("/").at(-1) ?? "").startsWith(begin)));
  return good.find((id) => id !== undefined) ?? listed[0] ?? null;
}

function modelEdits(wish: ModelWish, { modelId, keyFile, config }: Given): readonly CommentedEdit[] {
  const answers = (model: string, comment: string) => ({ keys: ["agent", "model"], value: model, comment });
  switch (wish.kind) {
    case "demo":
      return [answers(DEMO_MODEL, DEMO)];
    case "login":
      return [
        { keys: ["agent", "agentDir"], value: wish.folder, comment: LOGIN },
        { keys: ["agent", "model"], value: undefined, comment: "" },
      ];
    case "key":
      return [
        answers(`${wish.provider}/${modelId ?? ""}`, AGENT),
        { keys: ["models", "keys", wish.provider], value: [{ file: keyFile }], comment: KEYS },
      ];
    case "endpoint": {
      const name = endpointName(config.models.providers, wish.baseUrl);
      const server = {
        baseUrl: wish.baseUrl,
        apiKey: wish.key?.reveal() ?? "any text",
        models: [{ id: modelId ?? "", contextWindow: 32_000, maxTokens: 4_096 }],
      };
      return [
        answers(`${name}/${modelId ?? ""}`, AGENT),
        { keys: ["models", "providers", name], value: server, comment: SERVER },
      ];
    }
  }
}

/** An endpoint of another address keeps its name and its settings. */
function endpointName(providers: Config["models"]["providers"], baseUrl: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? "local" : `local-${number}`;
    if (!Object.hasOwn(providers, name) || providers[name]?.baseUrl === baseUrl) return name;
  }
}

function channelEdit({ channel, token }: ChannelWish): CommentedEdit {
  const setting = channel === "telegram" ? "botToken" : "token";
  return { keys: ["channels", channel, setting], value: token.reveal(), comment: CHANNELS };
}

function ownersEdit(added: readonly string[], there: readonly string[]): CommentedEdit {
  return { keys: ["roles", "owners"], value: [...new Set([...there, ...added])], comment: ROLES };
}
