/** What is said, planned and spent in the pictures of the web console. Data only. */
import type { FakeReply } from "../../src/testing/fake-provider.ts";
import type { Said } from "../../test/views-seed.ts";

const DAYS = 24;
const HOURS_A_DAY = 24;
const SECRET = "a-secret-of-the-pictures-0123456789abcdef";

export const SHOWN_CONFIG = {
  budget: { monthlyUsd: 20, dailyUsd: 0.6, dailyTokens: 2_000_000 },
  heartbeat: { enabled: true, every: "4h" },
  backup: { every: "1d" },
  agents: [{ id: "papers", systemPrompt: "You look after letters, bills and contracts." }],
  hooks: {
    enabled: true,
    token: SECRET,
    keys: { "2026-11": `${SECRET}-1` },
    mappings: {
      build: { message: "Build {{build.id}} failed: {{build.log}}", task: "Say in one sentence what broke." },
    },
    targets: { ops: { url: "https://ops.example/pi", secret: `${SECRET}-2` } },
  },
} as const;

export const JOBS = [
  {
    id: "morning",
    schedule: { kind: "cron", expr: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    task: "Plan the day: calendar, mail, weather.",
  },
  { id: "rent", schedule: { kind: "cron", expr: "0 8 1 * *" }, task: "Remind me of the rent." },
  { id: "weekly", schedule: { kind: "cron", expr: "0 17 * * 5" }, task: "What was done this week?", paused: true },
] as const;

export const KEYS = [
  { name: "Kitchen display", scopes: ["read"], dailyUsd: 0.5 },
  { name: "Editor", scopes: ["chat", "tools"], tools: ["notes_*"] },
] as const;

/** Conversations of the web console, oldest first; the last one is shown. */
export const CONVERSATIONS: readonly (readonly string[])[] = [
  ["What is a good first novel by Ursula K. Le Guin?"],
  ["Compare three ways to back up a laptop"],
  ["Which plants need water today?", "Write a function that says so", "Put it on my list"],
];

const CODE = `It compares the day with the last watering:

\`\`\`ts
export function thirsty(plants: Plant[], today: Date): Plant[] {
  return plants.filter((plant) => plant.daysDry(today) >= plant.everyDays);
}
\`\`\`

Succulents have an \`everyDays\` of 14, so they are left alone for two weeks.`;

const PLANTS = `Two of them:

| Plant   | Where   | Last watered |
| ------- | ------- | ------------ |
| Ficus   | hall    | 6 days ago   |
| Basil   | kitchen | yesterday    |

The **cactus** can wait until next week.`;

/** By the words of a question, first fit first. */
export const ANSWERS: readonly (readonly [words: string, answer: FakeReply])[] = [
  ["Which plants", text(PLANTS)],
  ["Write a function", text(CODE)],
  [
    "Put it on my list",
    { kind: "tools", calls: [{ name: "add_task", input: { title: "Water the ficus and the basil" } }] },
  ],
  ["Free some space", bash("du -sh ~/Downloads/* | sort -h | tail -5\nrm -r ~/Downloads/old-installers")],
  [
    "Tidy up the notes",
    {
      kind: "tools",
      calls: [{ name: "write", input: { path: "notes/garden.md", content: "# Garden\n\n- ficus: every 6 days\n" } }],
    },
  ],
  ["Order something warm", { kind: "tools", calls: [{ name: "ask_choice", input: {} }] }],
];

/** After a tool has run. */
export const AFTERWARDS = text("It is on your list: **Water the ficus and the basil**.");

/** Said in conversations of their own, each of which then waits for a person. */
export const WAITING = ["Free some space on the disk", "Tidy up the notes", "Order something warm"] as const;

export const ASKING = `
export default function (pi) {
  pi.registerTool({
    name: "ask_choice", label: "Ask", description: "Asks the person to choose.", parameters: { type: "object", properties: {} },
    async execute(_id, _params, _signal, _update, { ui }) {
      const answer = await ui.select("What would you like?", ["Tea", "Coffee", "Cocoa"]);
      return { content: [{ type: "text", text: String(answer) }], details: undefined };
    },
  });
}
`;

/** A month of use that rises and falls. */
export function month(): readonly Said[] {
  return Array.from({ length: DAYS }, (_, day) => ({
    text: day % 5 === 0 ? "What was done this week?" : "Plan the day: calendar, mail, weather.",
    hoursAgo: (day + 4) * HOURS_A_DAY,
    by: ["webchat", "operator", "Owner"] as const,
    agent: day % 4 === 0 ? "papers" : "default",
    model: day % 3 === 0 ? "openai/gpt-5.4-mini" : "anthropic/claude-opus-4-8",
    origin: day % 5 === 0 ? ("cron" as const) : ("chat" as const),
    costUsd: 0.06 + ((day * day * 7 + day * 3) % 17) / 40,
  }));
}

function text(answer: string): FakeReply {
  return {
    kind: "text",
    pieces: answer.match(/[\s\S]{1,60}/g) ?? [],
    usage: { inputTokens: 3_120, outputTokens: 184 },
  };
}

function bash(command: string): FakeReply {
  return { kind: "tools", calls: [{ name: "bash", input: { command } }] };
}
