/** What is not as it should be, as lines for the health chip and the one banner. Pure. */
import type { GatewayStatus } from "../../src/contracts/wire.ts";

interface ProblemLine {
  /** The same while it is the same problem, so that a dismissed one stays dismissed. */
  readonly id: string;
  readonly kind: "offline" | "channel" | "notice";
  readonly text: string;
}

const OFFLINE: ProblemLine = {
  id: "offline",
  kind: "offline",
  text: "Reconnecting… What you send now is kept and goes out when the gateway answers again.",
};

/** `away`: the gateway answered before, and does not now. */
export function problemsOf(status: GatewayStatus | null, away: boolean): readonly ProblemLine[] {
  const channels = (status?.channels ?? []).filter(({ ok }) => !ok);
  return [
    ...(away ? [OFFLINE] : []),
    ...(status?.notices ?? []).map((text) => ({ id: text, kind: "notice" as const, text })),
    ...channels.map(({ id, detail }) => ({
      id: `channel ${id} ${detail}`,
      kind: "channel" as const,
      text: `The channel ${id} is not connected: ${detail}`,
    })),
  ];
}

/** What the chip says. */
export function healthText(problems: readonly ProblemLine[], connected: boolean): string {
  if (problems.some(({ kind }) => kind === "offline")) return "Reconnecting";
  if (!connected) return "Connecting";
  if (problems.length === 0) return "All well";
  return problems.length === 1 ? "1 problem" : `${problems.length} problems`;
}
