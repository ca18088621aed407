/** The list of conversations: search, begin a new one, move between them with mouse, finger or arrow keys. */
import { useEffect, useRef } from "preact/hooks";
import { list, moreSessions, newChat, search, searchFor } from "../state/console-state.ts";
import { drawer, minute } from "../state/screen.ts";
import { Icon } from "./icons.tsx";
import { SessionItem } from "./session-item.tsx";

const SEARCH_ID = "search";

/** After the next frame: a drawer that is just opening cannot take the focus yet. */
export function focusSearch(): void {
  requestAnimationFrame(() => document.getElementById(SEARCH_ID)?.focus());
}

export function Sidebar() {
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (drawer.value) close.current?.focus();
  }, [drawer.value]);
  return (
    <>
      {drawer.value && <div class="scrim" onClick={() => (drawer.value = false)} />}
      <nav class={`sidebar${drawer.value ? " open" : ""}`} aria-label="Conversations" id="sidebar">
        <div class="brand">
          <h2>Chats</h2>
          <button
            ref={close}
            type="button"
            class="icon-button narrow"
            aria-label="Close list"
            onClick={() => (drawer.value = false)}
          >
            <Icon name="close" />
          </button>
        </div>
        <button type="button" class="new-chat" data-testid="new-chat" title="New chat" onClick={begin}>
          <Icon name="plus" size={18} /> New chat
        </button>
        <label class="search">
          <Icon name="search" size={16} />
          <span class="hidden">Search conversations</span>
          <input
            id={SEARCH_ID}
            type="search"
            placeholder="Search"
            value={search.value}
            onInput={(event) => searchFor(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "ArrowDown" && moveFocus(event, 1)}
          />
          {!search.value && <kbd aria-hidden="true">/</kbd>}
        </label>
        <Sessions />
      </nav>
    </>
  );
}

function begin(): void {
  drawer.value = false;
  newChat();
}

function Sessions() {
  const { phase, items, next } = list.value;
  return (
    <div class="sessions" onKeyDown={onArrow}>
      {phase === "loading" && <ListSkeleton />}
      {phase === "failed" && <p class="list-note">The list could not be read. It comes back with the connection.</p>}
      {phase === "ready" && items.length === 0 && (
        <p class="list-note">
          {search.value ? `Nothing found for “${search.value}”.` : "Your conversations will appear here."}
        </p>
      )}
      {items.length > 0 && (
        <ul>
          {items.map((item) => (
            <SessionItem key={item.key} item={item} now={minute.value} onOpen={() => (drawer.value = false)} />
          ))}
        </ul>
      )}
      {next && (
        <button type="button" class="quiet earlier" onClick={moreSessions}>
          Show more
        </button>
      )}
    </div>
  );
}

function ListSkeleton() {
  return (
    <div class="skeleton list" role="status" aria-label="Loading conversations">
      <i />
      <i />
      <i />
    </div>
  );
}

function onArrow(event: KeyboardEvent): void {
  if (event.key === "ArrowDown") moveFocus(event, 1);
  if (event.key === "ArrowUp") moveFocus(event, -1);
}

function moveFocus(event: KeyboardEvent, step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(".session")];
  const at = links.findIndex((link) => link === document.activeElement);
  event.preventDefault();
  if (at === 0 && step < 0) return document.getElementById(SEARCH_ID)?.focus();
  links[Math.min(links.length - 1, at + step)]?.focus();
}
