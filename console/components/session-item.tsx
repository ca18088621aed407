/** One conversation in the list: a link to it, and a field in its place while it is being renamed. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { SessionSummary } from "../../src/contracts/chat.ts";
import { ago } from "../net/error-text.ts";
import { hashOf } from "../state/route.ts";
import { approvals, questions } from "../state/news.ts";
import { chat, openSession, view } from "../state/console-state.ts";
import { rename } from "../state/session-list.ts";
import { Icon } from "./icons.tsx";
import { managed, SessionDialog } from "./session-dialog.tsx";

/** The key of the conversation that is being renamed. */
const renaming = signal<string | null>(null);
const MAX_NAME_CHARS = 80;

interface Props {
  readonly item: SessionSummary;
  readonly now: number;
  readonly onOpen: () => void;
}

export function SessionItem({ item, now, onOpen }: Props) {
  return <li>{renaming.value === item.key ? <NameField item={item} /> : <Session {...{ item, now, onOpen }} />}</li>;
}

function Session({ item, now, onOpen }: Props) {
  const current = view.value === "chat" && item.key === chat.value.key;
  const waits = approvals.value.some(({ sessionKey, decision }) => decision === null && sessionKey === item.key);
  const asks = questions.value.some(({ sessionKey, end }) => end === null && sessionKey === item.key);
  const title = item.title || "Untitled";
  const open = (event: MouseEvent) => {
    onOpen();
    if (event.metaKey || event.ctrlKey || event.shiftKey) return; // a new tab or window is the browser's business
    event.preventDefault();
    openSession(item.key);
  };
  const startRenaming = () => {
    managed.value = null;
    renaming.value = item.key;
  };
  return (
    <>
      <a
        class="session"
        data-testid="session"
        data-session={item.key}
        href={hashOf(item.key)}
        aria-current={current ? "page" : undefined}
        onClick={open}
        onDblClick={() => (renaming.value = item.key)}
      >
        <span class="session-title" dir="auto">
          {title}
        </span>
        <time dateTime={new Date(item.lastActivityAt).toISOString()}>{ago(item.lastActivityAt, now)}</time>
        {waits && <span class="asks">waits for your approval</span>}
        {!waits && asks && <span class="asks">asks something</span>}
        {item.channel !== "webchat" && <span class="channel">{item.channel}</span>}
      </a>
      <button
        type="button"
        class="icon-button rename"
        data-testid="manage"
        aria-label={`Manage ${title}`}
        title="Rename, pin, archive, export, delete"
        onClick={() => (managed.value = item)}
      >
        <Icon name="menu" size={16} />
      </button>
      {managed.value?.key === item.key && <SessionDialog session={item} onRename={startRenaming} />}
    </>
  );
}

/** Enter and leaving the field keep what was typed; Escape does not; nothing typed takes the name back. */
function NameField({ item }: { readonly item: SessionSummary }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const end = (save: boolean) => {
    const name = field.current?.value.trim() ?? "";
    if (renaming.value !== item.key) return;
    renaming.value = null;
    if (save && name !== item.title) void rename(item.key, name === "" ? null : name);
  };
  const onKey = (event: KeyboardEvent) => {
    event.stopPropagation(); // arrows move in the text here, not in the list
    if (event.key === "Enter") end(true);
    if (event.key === "Escape") end(false);
  };
  return (
    <input
      ref={field}
      class="session-name"
      dir="auto"
      data-testid="session-name"
      aria-label="Name of the conversation"
      maxLength={MAX_NAME_CHARS}
      defaultValue={item.title}
      onKeyDown={onKey}
      onBlur={() => end(true)}
    />
  );
}
