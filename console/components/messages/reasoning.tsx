/** What the model thought before it answered: folded, and read from the gateway when somebody opens it. */
import { useState } from "preact/hooks";
import type { HttpApi } from "../../../src/contracts/http-api.ts";
import { readJson } from "../../net/api.ts";

export function Reasoning({ turnId }: { readonly turnId: string }) {
  const [text, setText] = useState<string | null>(null);
  const read = async () => {
    const answer = await readJson<HttpApi["GET /api/turns/:id"]["result"]>(`/api/turns/${encodeURIComponent(turnId)}`);
    setText(answer.ok ? (answer.value.reasoning ?? "It is not kept any more.") : answer.error.message);
  };
  return (
    <details
      class="reasoning"
      data-testid="reasoning"
      onToggle={(event) => event.currentTarget.open && text === null && void read()}
    >
      <summary>Thoughts</summary>
      <p class="reasoning-text" dir="auto">
        {text ?? "Reading…"}
      </p>
    </details>
  );
}

/** While it thinks. */
export function LiveReasoning({ text }: { readonly text: string }) {
  if (text === "") return null;
  return (
    <details class="reasoning" data-testid="live-reasoning">
      <summary>Thoughts so far</summary>
      <p class="reasoning-text" dir="auto">
        {text}
      </p>
    </details>
  );
}
