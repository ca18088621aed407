/** A conversation without words yet: says what this is and offers a way to begin. */
import { line, sendMessage, status } from "../state/console-state.ts";
import { firstPrompts } from "../state/first-prompts.ts";
import { editDraft } from "./composer/draft.ts";
import { Logo } from "./icons.tsx";
import { SetupCard } from "./setup/setup-card.tsx";

export function Empty() {
  const demo = status.value?.model.demo ?? false;
  // what a real model does costs something, and a person may want other words
  const begin = (text: string) => (demo ? sendMessage(text, []) : editDraft(text));
  return (
    <div class="state empty">
      <Logo />
      <h2>What can I do for you?</h2>
      <p>
        A pi agent answers you here, through your own gateway. Every message is stored first, so nothing is lost if
        something restarts.
        {demo && " A built-in demo model answers until you set a key."}
      </p>
      <SetupCard />
      <div class="examples">
        {firstPrompts(status.value).map(({ text, why }) => (
          <button type="button" key={text} onClick={() => begin(text)} disabled={line.value === "signed-out"}>
            <strong>{text}</strong>
            <span>{why}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
