/** The list of conversations: search, begin a new one, move between them with mouse, finger or arrow keys. */
import { useEffect, useRef } from "preact/hooks";
import type { SessionSummary } from "../../src/contracts/chat.ts";
import type { MessageHit } from "../../src/contracts/store/session-care.ts";
import { ago } from "../net/error-text.ts";
import { newChat, request } from "../state/console-state.ts";
import { showMessage } from "../state/jump.ts";
import { groupByDate } from "../state/list.ts";
import { hashOf } from "../state/route.ts";
import { hits, isWhole, list, moreSessions, pinned, search, searchFor } from "../state/session-list.ts";
import { drawer, minute } from "../state/screen.ts";
import { Icon } from "./icons.tsx";
import { ListFilters } from "./list-filters.tsx";
import { SessionItem } from "./session-item.tsx";
import { markedWords } from "../text/marked-words.ts";
import { plainLine } from "../text/plain-line.ts";

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
          <h2>Conversations</h2>
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
            dir="auto"
            placeholder="Search"
            value={search.value}
            onInput={(event) => searchFor(request, event.currentTarget.value)}
            onKeyDown={(event) => event.key === "ArrowDown" && moveFocus(event, 1)}
          />
          {!search.value && <kbd aria-hidden="true">/</kbd>}
        </label>
        <ListFilters />
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
  const found = hits.value;
  const onTop = isWhole.value ? pinned.value : [];
  const rest = items.filter(({ key }) => !onTop.some((one) => one.key === key));
  return (
    <div class="sessions" onKeyDown={onArrow}>
      {phase === "loading" && <ListSkeleton />}
      {phase === "failed" && <p class="list-note">The list could not be read. It comes back with the connection.</p>}
      {phase === "ready" && items.length + onTop.length + found.length === 0 && (
        <p class="list-note">
          {search.value
            ? `Nothing found for “${search.value}”.`
            : isWhole.value
              ? "Your conversations will appear here."
              : "No conversation fits."}
        </p>
      )}
      {onTop.length > 0 && <Group name="Pinned" items={onTop} />}
      {groupByDate(rest, minute.value).map((group) => (
        <Group key={group.name} {...group} />
      ))}
      {next && (
        <button type="button" class="quiet earlier" onClick={() => moreSessions(request)}>
          Show more
        </button>
      )}
      {found.length > 0 && <Hits hits={found} />}
    </div>
  );
}

function Group({ name, items }: { readonly name: string; readonly items: readonly SessionSummary[] }) {
  return (
    <section aria-label={name}>
      <h3 class="list-group">{name}</h3>
      <ul>
        {items.map((item) => (
          <SessionItem key={item.key} item={item} now={minute.value} onOpen={() => (drawer.value = false)} />
        ))}
      </ul>
    </section>
  );
}

/** What was said, with the searched words: a press shows it where it stands. */
function Hits({ hits: shown }: { readonly hits: readonly MessageHit[] }) {
  const open = (hit: MessageHit) => (event: MouseEvent) => {
    event.preventDefault();
    drawer.value = false;
    showMessage(hit.sessionKey, hit.id);
  };
  return (
    <section aria-label="Messages">
      <h3 class="list-group">Messages</h3>
      <ul>
        {shown.map((hit) => (
          <li key={hit.id}>
            <a class="session hit" data-testid="hit" href={hashOf(hit.sessionKey)} onClick={open(hit)}>
              <span class="session-title" dir="auto">
                {hit.title || "Untitled"}
              </span>
              <time dateTime={new Date(hit.at).toISOString()}>{ago(hit.at, minute.value)}</time>
              <span class="snippet" dir="auto">
                {markedWords(plainLine(hit.snippet), search.value).map(({ text, isFound }, at) =>
                  isFound ? <mark key={at}>{text}</mark> : text,
                )}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
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
