/** What the gateway has to say about a turn that did not end well, and the way to try it again. */
import type { TranscriptItem } from "../../../src/contracts/chat.ts";
import { chat, sendMessage } from "../../state/console-state.ts";
import { Icon } from "../icons.tsx";

export function Notice({ item }: { readonly item: TranscriptItem }) {
  const asked = askedBefore(item);
  const media = chat.value.mediaUrls;
  const resend = () => {
    const attached = asked.flatMap((one) => one.attachments ?? []);
    const text = asked.map((one) => one.text).filter((said) => said !== "");
    sendMessage(
      text.join("\n\n"),
      attached.map((one) => ({ ...one, url: media[one.mediaId] ?? "" })),
    );
  };
  const wanted = item.outcome === "aborted"; // somebody pressed stop: no alarm
  return (
    <article
      class="row notice"
      data-testid="message"
      data-role={item.role}
      data-kind="notice"
      data-outcome={item.outcome}
    >
      <Icon name={wanted ? "stop" : "alert"} size={18} />
      <p dir="auto">{item.text}</p>
      {asked.length > 0 && (
        <button type="button" class="quiet small" onClick={resend}>
          <Icon name="retry" size={16} /> Retry
        </button>
      )}
    </article>
  );
}

/** What the notice's turn was to answer: several messages when it had collected them. */
function askedBefore(notice: TranscriptItem): readonly TranscriptItem[] {
  const said = chat.value.items.filter((one) => one.role === "user" && one.at <= notice.at);
  if (notice.turnId === null) return said.slice(-1);
  return said.filter((one) => one.turnId === notice.turnId);
}
