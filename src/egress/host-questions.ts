/**
 * Asks an owner about a host that `agent.network` does not list, where it says that one may be asked. The connection waits meanwhile. An answer
 * counts for the turn in which it was asked for, or for the session; nothing is resolved or opened before it.
 */
import type { EgressCaller } from "../contracts/egress.ts";
import type { ApprovalAnswer, Approvals } from "../contracts/tools/approval.ts";
import type { Target } from "./rules.ts";

interface HostQuestionsDeps {
  readonly approvals: Pick<Approvals, "ask">;
  /** Takes secrets out of what people are shown. */
  scrub(text: string): string;
}

/** `no`: with the reason. */
type HostAnswer =
  { readonly kind: "yes"; readonly scope: "once" | "session" } | { readonly kind: "no"; readonly because: string };

export interface HostQuestions {
  /** Connections of one turn to the same port of a host share one question. Never rejects. */
  ask(target: Target, caller: EgressCaller, because: string): Promise<HostAnswer>;
}

/** Nobody answers more in one turn. */
export const MAX_HOSTS_ASKED = 20;
const MAX_COMMAND_CHARS = 1_000;

export function createHostQuestions(deps: HostQuestionsDeps): HostQuestions {
  // a caller is one turn; what it asked for is forgotten with it
  const turns = new WeakMap<EgressCaller, Map<string, Promise<HostAnswer>>>();
  return {
    async ask(target, caller, because) {
      const asked = turns.get(caller) ?? new Map<string, Promise<HostAnswer>>();
      turns.set(caller, asked);
      const name = `${target.host}:${target.port}`;
      const before = asked.get(name);
      if (before) return before;
      if (asked.size >= MAX_HOSTS_ASKED)
        return no(`${because}, and the owner was asked about enough hosts in this turn`);
      const answer = askOwner(deps, { target, caller, because });
      asked.set(name, answer); // at once: a program opens several connections, and comes again when it gave up waiting
      return answer;
    },
  };
}

interface HostQuestion {
  readonly target: Target;
  readonly caller: EgressCaller;
  readonly because: string;
}

async function askOwner({ approvals, scrub }: HostQuestionsDeps, question: HostQuestion): Promise<HostAnswer> {
  const { target, caller, because } = question;
  const { sessionKey, principal, agentId } = caller.of;
  const tool = `network ${target.host}:${target.port}`; // what the answer "in this session" holds for
  const shown = {
    host: target.host,
    port: target.port,
    commands: caller.commands().map((command) => scrub(command).slice(0, MAX_COMMAND_CHARS)),
  };
  const hash = new Bun.CryptoHasher("sha256").update([tool, sessionKey, principal, agentId].join("\n")).digest("hex");
  try {
    const asked = { tool, callId: tool, caller: caller.of, because, shown, hash };
    return toAnswer(await approvals.ask(asked, caller.over), because);
  } catch {
    return no(`${because}, and the owner could not be asked`); // the question could not be stored
  }
}

function toAnswer(answer: ApprovalAnswer, because: string): HostAnswer {
  switch (answer) {
    case "once":
    case "session":
      return { kind: "yes", scope: answer };
    case "deny":
      return no(`${because}, and the owner did not allow it`);
    case "expired":
      return no(`${because}, and nobody allowed it in time`);
    case "full":
      return no(`${because}, and too many questions wait for the owner already`);
  }
}

function no(because: string): HostAnswer {
  return { kind: "no", because };
}
