/**
 * What the OpenAI-compatible doors add to a turn: the same words by `POST /api/chat`, by a chat completion and by a response, each in a session and a
 * process of its own, turn by turn, so that noise hits all of them. Without a session every request is a session of its own, and is told beside.
 */
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Line, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, timed } from "./parts/stats.ts";

/** Rounds before the code of all doors counts as used. */
const WARM_UP = 150;
/** Rounds of one conversation: a turn costs more the more was said before it. Its first ones open sessions, and are not counted. */
const CONVERSATION = 50;
const OPENING = 5;

type Door = (text: string, conversation: string) => readonly [path: string, body: object];

const said = (content: string) => [{ role: "user", content }];

const IN_SESSION = {
  chat: (text, session) => ["/api/chat", { text, session: `openai-${session}` }],
  again: (text, session) => ["/api/chat", { text, session: `openai-${session}` }],
  completion: (text, user) => ["/v1/chat/completions", { model: "pi-gateway", user, messages: said(text) }],
  response: (text, user) => ["/v1/responses", { model: "pi-gateway", user, input: text }],
} as const satisfies Readonly<Record<string, Door>>;

const OWN: Readonly<Record<"completion" | "response", Door>> = {
  completion: (text) => ["/v1/chat/completions", { model: "pi-gateway", messages: said(text) }],
  response: (text) => ["/v1/responses", { model: "pi-gateway", input: text }],
};

type Name = keyof typeof IN_SESSION;
const NAMES = Object.keys(IN_SESSION) as Name[];
type Round = Readonly<Record<Name, number>>;

async function measureDoors(rounds: number) {
  await using provider = await startProviderProcess();
  const pool = { min: NAMES.length, max: NAMES.length };
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl, pool) });
  const kept: Round[] = [];
  const own = { completion: [] as number[], response: [] as number[] };
  let key = "";
  for (let at = 0; at < WARM_UP + rounds; at++) {
    if (at % CONVERSATION === 0) key = await newKey(gateway, at);
    const conversation = `bench-${Math.floor(at / CONVERSATION)}`;
    const round = { chat: 0, again: 0, completion: 0, response: 0 };
    for (let n = 0; n < NAMES.length; n++) {
      const name = NAMES[(at + n) % NAMES.length] ?? "chat"; // each of them is first as often as the others
      round[name] = await ask(gateway, key, IN_SESSION[name](`turn ${at}`, `${conversation}-${name}`));
    }
    if (at >= WARM_UP && at % CONVERSATION >= OPENING) kept.push(round);
    if (at % CONVERSATION === CONVERSATION - 1 && at >= WARM_UP)
      for (const name of ["completion", "response"] as const)
        for (let n = 0; n < OPENING; n++) own[name].push(await ask(gateway, key, OWN[name](`turn ${n}`, "")));
  }
  const added = (name: Name): number => median(kept.map((round) => round[name] - round.chat));
  const chat = median(kept.map((round) => round.chat));
  return { chat, added, own: { completion: median(own.completion), response: median(own.response) } };
}

/** One person may make 600 requests in a minute: each conversation is another program's. */
async function newKey({ url, token }: GatewayProcess, at: number): Promise<string> {
  const made = await post(`${url}/api/keys`, token, { name: `bench ${at}`, scopes: ["chat"] });
  return (JSON.parse(made) as { readonly secret: string }).secret;
}

function ask({ url }: GatewayProcess, key: string, [path, body]: ReturnType<Door>): Promise<number> {
  return timed(() => post(`${url}${path}`, key, body));
}

async function post(url: string, key: string, body: object): Promise<string> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text;
}

export const openAiDoors: Scenario = {
  name: "openai-doors",
  async measure(scale): Promise<readonly Line[]> {
    const { chat, added, own } = await measureDoors(CONVERSATION * Math.max(2, Math.round(10 * scale)));
    return [
      { what: "turn by POST /api/chat, p50", value: chat, unit: "ms" },
      { what: "  added by the same once more, which is noise, p50", value: added("again"), unit: "ms" },
      { what: "  added by a chat completion in a session, p50", value: added("completion"), unit: "ms", ...atMost(1) },
      { what: "  added by a response in a session, p50", value: added("response"), unit: "ms", ...atMost(1) },
      { what: "chat completion without a session, p50", value: own.completion, unit: "ms" },
      { what: "response without a session, stored, p50", value: own.response, unit: "ms" },
    ];
  },
};
