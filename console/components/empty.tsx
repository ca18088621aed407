/** A conversation without words yet: says what this is and offers a way to begin. */
import { line, sendMessage, status } from "../state/console-state.ts";
import { Logo } from "./icons.tsx";

const EXAMPLES = [
  { text: "hello", why: "See who answers" },
  { text: "status", why: "Watch a tool being used" },
  { text: "tell me a long story", why: "Read along as it streams" },
] as const;

export function Empty() {
  const demo = status.value?.model.demo ?? false;
  return (
    <div class="state empty">
      <Logo />
      <h2>What can I do for you?</h2>
      <p>
        You are talking to a pi agent through your own gateway. Every message is stored before it is answered, so
        nothing is lost if something restarts.
        {demo && " A built-in demo model answers until you set a key."}
      </p>
      <div class="examples">
        {EXAMPLES.map(({ text, why }) => (
          <button type="button" key={text} onClick={() => sendMessage(text, [])} disabled={line.value === "signed-out"}>
            <strong>{text}</strong>
            <span>{why}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
