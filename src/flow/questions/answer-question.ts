/** Text that answers a question of the running turn reaches whoever asked, and is no message. Commands always are messages. */
import type { AnswerReceipt, Receipt } from "../../contracts/channel.ts";
import type { Questions } from "../../contracts/channels/question.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { Commands } from "../../contracts/command.ts";
import type { Router } from "../../contracts/routing.ts";

interface AnswerDeps {
  readonly router: Router;
  readonly commands: Pick<Commands, "find">;
  readonly questions: Pick<Questions, "hearAnywhere" | "pending">;
}

/** Null: it answers nothing, and goes on as a message. Access is decided as for every message. */
export async function answerQuestion(
  { router, commands, questions }: AnswerDeps,
  message: InboundMessage,
): Promise<AnswerReceipt | Receipt | null> {
  if (questions.pending().length === 0 || isCommand(commands, message)) return null;
  const verdict = router.decide(message);
  if (verdict.kind === "refuse") return null;
  const heard = await questions.hearAnywhere(message, verdict);
  if (heard?.kind === "taken") return { kind: "answered", sessionKey: verdict.sessionKey };
  if (heard?.kind === "refused" && heard.because === "unfit")
    return { kind: "refused", because: "no_such_answer", say: heard.say };
  return null;
}

function isCommand(commands: Pick<Commands, "find">, message: InboundMessage): boolean {
  if (commands.find(message)) return true;
  const { answering } = message;
  return answering !== undefined && commands.find({ ...message, text: answering.text }) !== null;
}
