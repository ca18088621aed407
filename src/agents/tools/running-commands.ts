/** What the shell of one agent process runs now, as pi tells it. Shown to owners who are asked about a connection, and decides nothing. */
import { isFields, type PiEvent } from "../talk/protocol.ts";

const SHELL = "bash";

interface RunningCommands {
  take(event: PiEvent): void;
  list(): readonly string[];
}

export function createRunningCommands(): RunningCommands {
  const running = new Map<string, string>();
  return {
    take(event) {
      if (event.type === "settled") running.clear();
      if (event.type === "tool_ended") running.delete(event.callId);
      if (event.type !== "tool_started" || event.tool !== SHELL || !isFields(event.input)) return;
      const { command } = event.input;
      if (typeof command === "string") running.set(event.callId, command);
    },
    list: () => [...running.values()],
  };
}
