/** Which slash commands an editor may offer in a session, told at the moment when the editor can take it in. */
import type { AnyMessage, SessionUpdate, Stream } from "@agentclientprotocol/sdk";
import type { WireMethods } from "../../contracts/wire.ts";

type CommandList = WireMethods["commands.list"]["result"]["items"];

export function commandsUpdate(commands: CommandList): SessionUpdate {
  const availableCommands = commands.map(({ name, help, usage }) => ({
    name,
    description: help,
    ...(usage === undefined ? {} : { input: { hint: usage } }),
  }));
  return { sessionUpdate: "available_commands_update", availableCommands };
}

interface Announcements {
  /** The stream to connect. */
  readonly stream: Stream;
  /** Sent right after the answer that names this new session: editors drop what they are told of a session that they do not know yet. */
  afterAnswer(sessionId: string, update: SessionUpdate): void;
}

export function withAnnouncements({ readable, writable }: Stream): Announcements {
  const due = new Map<string, SessionUpdate>();
  const writer = writable.getWriter();
  const outgoing = new WritableStream<AnyMessage>({
    async write(message) {
      await writer.write(message);
      const sessionId = sessionIn(message);
      const update = sessionId === null ? undefined : due.get(sessionId);
      if (sessionId === null || update === undefined) return;
      due.delete(sessionId);
      await writer.write({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
    },
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
  return {
    stream: { readable, writable: outgoing },
    afterAnswer: (sessionId, update) => void due.set(sessionId, update),
  };
}

/** Of an answer; null for all other messages. */
function sessionIn(message: AnyMessage): string | null {
  if (!("result" in message)) return null;
  const { result } = message;
  if (typeof result !== "object" || result === null || !("sessionId" in result)) return null;
  return typeof result.sessionId === "string" ? result.sessionId : null;
}
