/** The list of conversations: search, begin a new one, move between them with mouse, finger or arrow keys. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { leave, list, moreSessions, newChat, search, searchFor, view } from "../state/console-state.ts";
import type { View } from "../state/route.ts";
import { nextTheme, theme } from "../state/theme.ts";
import { Icon, type IconName, Logo } from "./icons.tsx";
import { People } from "./people.tsx";
import { SessionItem } from "./session-item.tsx";

/** On narrow screens the list is a drawer; on wide ones it is always there. */
export const drawer = signal(false);
/** Relative times grow old without any event; this makes them fresh. */
export const minute = signal(Date.now());

const SEARCH_ID = "search";
const NARROW = "(max-width: 47.99rem)";

export function isNarrow(): boolean {
  return matchMedia(NARROW).matches;
}

/** A window that grows wide has no drawer any more, and nothing must stay behind it. */
export function closeDrawerWhenWide(): void {
  matchMedia(NARROW).addEventListener("change", () => (drawer.value = false));
}

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
          <Logo />
          <span>pi-gateway</span>
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
        <button type="button" class="new-chat" data-testid="new-chat" title="New chat (Ctrl+K)" onClick={begin}>
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
        <FootLink href="#/jobs" icon="clock" name="Jobs" views={["jobs"]} />
        <FootLink href="#/keys" icon="key" name="Keys" views={["keys"]} />
        <FootLink href="#/tools" icon="tools" name="Tools" views={["tools", "calls"]} />
        <Foot />
      </nav>
    </>
  );
}

interface FootLinkProps {
  readonly href: string;
  readonly icon: IconName;
  readonly name: string;
  /** Where one is, when this is the place. */
  readonly views: readonly View[];
}

function FootLink({ href, icon, name, views }: FootLinkProps) {
  const here = views.includes(view.value);
  return (
    <a class="foot-button" href={href} aria-current={here ? "page" : undefined} onClick={() => (drawer.value = false)}>
      <Icon name={icon} size={18} /> {name}
    </a>
  );
}

export function begin(): void {
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

const THEME_WORDS = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" } as const;

function Foot() {
  const now = theme.value;
  return (
    <div class="foot">
      <People />
      <button type="button" class="foot-button" onClick={nextTheme}>
        <Icon name={now} size={18} /> {THEME_WORDS[now]}
      </button>
      <button type="button" class="icon-button" aria-label="Sign out" title="Sign out" onClick={() => void leave()}>
        <Icon name="leave" size={18} />
      </button>
    </div>
  );
}
