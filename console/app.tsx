/** The web console as a whole: signed out, or list and conversation; keys that work everywhere; images dropped anywhere. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Banners } from "./components/banners.tsx";
import { ChatView } from "./components/chat-view.tsx";
import { Composer, keepDrafts, takeFiles } from "./components/composer.tsx";
import { Header } from "./components/header.tsx";
import { begin, closeDrawerWhenWide, drawer, focusSearch, isNarrow, minute, Sidebar } from "./components/sidebar.tsx";
import { JobsView } from "./components/jobs/jobs-view.tsx";
import { KeysView } from "./components/keys/keys-view.tsx";
import { ToolsView } from "./components/tools/tools-view.tsx";
import { SignIn } from "./components/sign-in.tsx";
import { announced } from "./state/news.ts";
import { readOnlyBecause } from "./state/route.ts";
import { signInState, openKey, stopTurn, turnRuns, view } from "./state/console-state.ts";

const MINUTE_MS = 60_000;

export function App() {
  useEffect(() => {
    keepDrafts();
    closeDrawerWhenWide();
    document.addEventListener("keydown", onKey);
    const timer = setInterval(() => (minute.value = Date.now()), MINUTE_MS);
    return () => {
      document.removeEventListener("keydown", onKey);
      clearInterval(timer);
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
    <div class="shell">
      {writes && (
        <a class="skip" href="#composer" onClick={toComposer}>
          Skip to the message field
        </a>
      )}
      <Sidebar />
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
        <Banners />
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
          <OtherView />
        )}
        <div class="hidden" aria-live="polite" data-testid="announced">
          {announced.value}
        </div>
        {dragging.value && <div class="drop">Drop images to attach them</div>}
      </main>
    </div>
  );
}

/** What is no conversation. */
function OtherView() {
  if (view.value === "jobs") return <JobsView />;
  return view.value === "keys" ? <KeysView /> : <ToolsView />;
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
    return begin();
  }
  if (event.key === "/" && !isTyping(event.target)) {
    event.preventDefault();
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
