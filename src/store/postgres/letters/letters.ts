/** The door to the letters of gateways on Postgres. */
import type { InstanceId } from "../../../contracts/ids.ts";
import type { LetterStore, OtherChange, ReceivedLetter } from "../../../contracts/store/letters.ts";
import { createTopic } from "../../../kit/topic.ts";
import { storeFailed } from "../../group-commit.ts";
import type { Connection } from "../connection.ts";
import { startIncoming } from "./incoming.ts";
import { type LetterDeps, startOutgoing } from "./outgoing.ts";

interface OpenLettersDeps extends LetterDeps {
  connect(onWake?: () => void): Promise<Connection>;
}

interface OpenLetters extends LetterStore {
  close(): Promise<void>;
}

export function openLetters({ clock, log, instanceId, connect }: OpenLettersDeps): OpenLetters {
  const letters = createTopic<ReceivedLetter>();
  const missed = createTopic<InstanceId>();
  const changes = createTopic<OtherChange>();
  const outgoing = startOutgoing({ clock, log, instanceId, connect: () => connect() });
  const incoming = startIncoming({
    clock,
    log,
    instanceId,
    connect,
    onLetter: letters.publish,
    onMissed: missed.publish,
    onOther: changes.publish,
  });
  return {
    send: outgoing.send,
    onLetter: letters.subscribe,
    onMissed: missed.subscribe,
    onOther: changes.subscribe,
    others: incoming.others,
    async live() {
      try {
        return await incoming.live();
      } catch (error) {
        throw storeFailed(error);
      }
    },
    async close() {
      await Promise.all([outgoing.close(), incoming.close()]);
    },
  };
}
