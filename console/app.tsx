/** The web console as a whole: signed out, or the rail and what was chosen there; keys that work everywhere; files dropped anywhere. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ChatView } from "./components/messages/chat-view.tsx";
import { Composer, takeFiles } from "./components/composer/composer.tsx";
import { keepDrafts } from "./components/composer/draft.ts";
import { Banner } from "./components/frame/health.tsx";
import { LazyView } from "./components/frame/lazy-view.tsx";
import { Palette } from "./components/frame/palette.tsx";
import { Rail } from "./components/frame/rail.tsx";
import { Header } from "./components/header.tsx";
import { focusSearch, Sidebar } from "./components/sidebar.tsx";
import { SignIn } from "./components/sign-in.tsx";
import { followInbox } from "./state/inbox-state.ts";
import { announced } from "./state/news.ts";
import { closePalette, openPalette, paletteOpen } from "./state/palette.ts";
import { prepareOpened } from "./state/preparing.ts";
import { readOnlyBecause } from "./state/route.ts";
import { drawer, followScreen, isNarrow } from "./state/screen.ts";
import { signInState, openKey, stopTurn, turnRuns, view } from "./state/console-state.ts";

export function App() {
  useEffect(() => {
    keepDrafts();
    prepareOpened();
    const stops = [followScreen(), followInbox()];
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("keydown", onKey);
      for (const stop of stops) stop();
    };
  }, []);
  const at = signInState.value;
  if (at.at === "out") return <SignIn problem={at.problem} lockedUntil={at.lockedUntil} />;
  if (at.at === "checking") return null; // a few milliseconds; anything shown would only flash
  return <Shell />;
}

function Shell() {
  const dragging = useSignal(false);
  const readOnly = readOnlyBecause(openKey.value);
  const writes = view.value === "chat" && readOnly === null;
  const onDrag = (over: boolean) => (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    dragging.value = over && writes;
  };
  return (
    <div class={view.value === "chat" ? "shell with-list" : "shell"}>
      {writes && (
        <a class="skip" href="#composer" onClick={toComposer}>
          Skip to the message field
        </a>
      )}
      <Rail />
      {view.value === "chat" && <Sidebar />}
      <main
        class="main"
        inert={drawer.value}
        onDragOver={onDrag(true)}
        onDragLeave={onDrag(false)}
        onDrop={(event) => {
          dragging.value = false;
          if (writes) takeFiles(event, event.dataTransfer?.files);
          else event.preventDefault();
        }}
      >
        <Header />
        <Banner />
        {view.value === "chat" ? (
          <>
            <ChatView />
            {readOnly === null ? (
              <Composer />
            ) : (
              <p class="read-only" data-testid="read-only">
                {readOnly}
              </p>
            )}
          </>
        ) : (
          <LazyView view={view.value} />
        )}
        <div class="hidden" aria-live="polite" data-testid="announced">
          {announced.value}
        </div>
        {dragging.value && <div class="drop">Drop files to attach them</div>}
      </main>
      {paletteOpen.value && <Palette />}
    </div>
  );
}

/** The address holds the open conversation, so the skip link moves the focus instead of the address. */
function toComposer(event: MouseEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("[data-testid=composer]")?.focus();
}

function onKey(event: KeyboardEvent): void {
  if (event.isComposing || signInState.value.at !== "in") return;
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    return paletteOpen.value ? closePalette() : openPalette();
  }
  if (event.key === "/" && !isTyping(event.target)) {
    event.preventDefault();
    if (view.value !== "chat") return openPalette();
    drawer.value = isNarrow();
    return focusSearch();
  }
  if (event.key !== "Escape") return;
  if (drawer.value) drawer.value = false;
  else if (turnRuns.value && view.value === "chat") stopTurn();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
}
