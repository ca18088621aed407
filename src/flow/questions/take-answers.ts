/** Before the queue: words that answer a question of the running turn reach whoever asked, and are no message. Commands always are. */
import type { ChatReceiver, Receiver } from "../../contracts/channel.ts";
import type { Questions } from "../../contracts/channels/question.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { Commands } from "../../contracts/command.ts";
import type { Router } from "../../contracts/routing.ts";

export interface TakeAnswersDeps {
  readonly router: Router;
  readonly commands: Pick<Commands, "find">;
  readonly questions: Pick<Questions, "hear" | "pending">;
}

/** Who may come in is decided as for every message; what does not answer anything goes on to the receiver, which decides again. */
export function takeAnswers({ router, commands, questions }: TakeAnswersDeps, receiver: Receiver): ChatReceiver {
  return {
    async receive(message, signal) {
      if (questions.pending().length === 0 || isCommand(commands, message)) return receiver.receive(message, signal);
      const verdict = router.decide(message);
      if (verdict.kind === "refuse") return receiver.receive(message, signal);
      const { sessionKey } = verdict;
      const heard = questions.hear(message, verdict);
      if (heard?.kind === "taken") return { kind: "answered", sessionKey };
      if (heard?.kind === "refused" && heard.because === "unfit")
        return { kind: "refused", because: "no_such_answer", say: heard.say };
      return receiver.receive(message, signal);
    },
  };
}

function isCommand(commands: Pick<Commands, "find">, message: InboundMessage): boolean {
  if (commands.find(message)) return true;
  const { answering } = message;
  return answering !== undefined && commands.find({ ...message, text: answering.text }) !== null;
}
