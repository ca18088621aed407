/** What an empty conversation suggests, so that it suits the model that answers. The demo model knows a few scripted words; a real one is shown what it can do here. Pure. */
import type { GatewayStatus } from "../../src/contracts/wire.ts";

interface FirstPrompt {
  readonly text: string;
  readonly why: string;
}

const DEMO: readonly FirstPrompt[] = [
  { text: "hello", why: "See who answers" },
  { text: "status", why: "Watch a tool being used" },
  { text: "tell me a long story", why: "Read along as it streams" },
];
const TOOLS: FirstPrompt = {
  text: "What can you do for me here? Name your tools, and give me an example of each.",
  why: "See what it can use",
};
const FILES: FirstPrompt = {
  text: "Look at the files in your workspace and tell me in five lines what is there.",
  why: "Let it work with files",
};
const JOB: FirstPrompt = {
  text: "Every weekday at 8:00, remind me of the three things I wanted to do that day. Ask me for them first.",
  why: "Have it begin by itself",
};
const PLAN: FirstPrompt = {
  text: "Help me plan this week. Ask me five short questions, then make a plan that I can follow.",
  why: "Think something through together",
};

export function firstPrompts(status: Pick<GatewayStatus, "model" | "sandbox"> | null): readonly FirstPrompt[] {
  if (status === null || status.model.demo) return DEMO;
  const { setting, tier } = status.sandbox;
  const hasFiles = setting === "off" || tier !== "none"; // without a wall agents have no pi tools
  return [TOOLS, hasFiles ? FILES : PLAN, JOB];
}
