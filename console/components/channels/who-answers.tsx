/** "Who would answer?": which agent and session a message would go to, as the gateway decides it now, with every rule that was considered. Sends nothing. */
import { useSignal } from "@preact/signals";
import type { Verdict } from "../../../src/contracts/routing.ts";
import { cards, type Explained, whoAnswers } from "../../state/channels-state.ts";
import { SelectField, TextField } from "../parts/fields.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

const MAX_ID_CHARS = 512;
const SCOPES = [
  ["dm", "Directly"],
  ["group", "In a group"],
  ["mentioned", "In a group, mentioned"],
] as const;

export function WhoAnswers() {
  const channel = useSignal("webchat");
  const peer = useSignal("operator");
  const chat = useSignal("");
  const scope = useSignal<string>("dm");
  const found = useSignal<Explained | null>(null);
  const { busy, problem, run } = useAction();
  const known = cards.value === null || cards.value === "failed" ? [] : cards.value.map(({ id }) => id);
  const ask = (event: Event) => {
    event.preventDefault();
    const [name = "webchat", account = "default"] = channel.value.split("/");
    const who = peer.value.trim();
    const asked = {
      channel: name,
      account,
      chat: chat.value.trim() || who,
      peer: who,
      scope: scope.value === "dm" ? ("dm" as const) : ("group" as const),
      mentioned: scope.value === "mentioned",
    };
    void run(async () => {
      const answer = await whoAnswers(asked);
      found.value = answer.ok ? answer.value : null;
      return answer.ok ? null : answer.error.message;
    });
  };
  return (
    <section class="part">
      <h2>Who would answer?</h2>
      <form class="form" onSubmit={ask} aria-label="Who would answer?">
        <SelectField label="Channel" value={channel} choices={known.map((id) => [id, id] as const)} />
        <TextField
          label="Person"
          value={peer}
          required
          maxLength={MAX_ID_CHARS}
          placeholder="telegram:user:1"
          exact
          wide
        />
        <SelectField label="Said" value={scope} choices={SCOPES} />
        <TextField label="Chat (empty: their own)" value={chat} maxLength={MAX_ID_CHARS} exact wide />
        <button type="submit" class="primary" disabled={busy || peer.value.trim() === ""}>
          Show
        </button>
        <Problem text={problem} />
      </form>
      {found.value && <Answered explained={found.value} />}
    </section>
  );
}

function Answered({ explained: { verdict, considered } }: { readonly explained: Explained }) {
  return (
    <div
      class="tool card"
      data-testid="who-answers"
      data-status={verdict.kind === "accept" ? "success" : "blocked"}
      role="status"
    >
      <p>{verdictText(verdict)}</p>
      <ul class="inbox-problems">
        {(verdict.kind === "accept" ? verdict.because : [verdict.because]).map((because) => (
          <li key={because} dir="auto">
            {because}
          </li>
        ))}
        {considered.map(({ index, agent, wins, because }) => (
          <li key={`rule ${index}`} dir="auto">
            Rule {index + 1} ({agent}): {wins ? "chosen, " : "not chosen, "}
            {because}
          </li>
        ))}
      </ul>
    </div>
  );
}

function verdictText(verdict: Verdict): string {
  if (verdict.kind === "accept")
    return `The agent ${verdict.agentId} answers, to them as ${verdict.role}, in the session ${verdict.sessionKey}.`;
  if (verdict.tell === "nothing") return "Nobody answers, and they are told nothing.";
  return verdict.tell === "pairing"
    ? "Nobody answers; they get a code to ask for access with."
    : `Nobody answers. They are told: ${verdict.say}`;
}
