/** Above every view: what it is about, which model answers, and how the gateway is. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { status, title, view } from "../state/console-state.ts";
import { HELP_PAGES } from "../state/help-pages.ts";
import { ADDRESSES } from "../state/route.ts";
import { drawer } from "../state/screen.ts";
import { HealthChip } from "./frame/health.tsx";
import { Icon } from "./icons.tsx";
import { Verbatim } from "./parts/verbatim.tsx";

export function Header() {
  return (
    <header class="header">
      {view.value === "chat" && (
        <button
          type="button"
          class="icon-button narrow"
          aria-label="Show conversations"
          aria-expanded={drawer.value}
          aria-controls="sidebar"
          onClick={() => (drawer.value = true)}
        >
          <Icon name="list" />
        </button>
      )}
      <h1 dir="auto">{title.value}</h1>
      <Model />
      <Help />
      <HealthChip />
    </header>
  );
}

/** In a tab of its own, so that what is being written here stays. No stop of Tab, because every area is at most ten away: a keyboard has it in Ctrl+K. */
function Help() {
  const address = HELP_PAGES[view.value];
  if (address === undefined) return null;
  return (
    <a
      class="icon-button help"
      href={address}
      tabindex={-1}
      target="_blank"
      rel="noopener"
      aria-label="Help about this view"
      title="Help about this view"
    >
      <Icon name="unknown" size={18} />
    </a>
  );
}

function Model() {
  const model = status.value?.model;
  if (model?.demo) return <DemoBadge />;
  if (!model?.name) return null; // known as soon as the first agent has started
  return (
    <span class="model" title="The model that answers">
      {model.name}
    </span>
  );
}

function DemoBadge() {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open.value) return;
    const close = (event: Event) => {
      const key = event instanceof KeyboardEvent;
      if (key ? event.key !== "Escape" : box.current?.contains(event.target as Node)) return;
      if (key) event.stopPropagation(); // Escape closes this and does not also stop the turn
      open.value = false;
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", close, true);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", close, true);
    };
  }, [open.value]);
  return (
    <div class="demo" ref={box}>
      <button type="button" class="badge" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        demo model
      </button>
      {open.value && (
        <div class="popover" role="dialog" aria-label="About the demo model">
          <h2>A demo model is answering</h2>
          <p>
            It needs no key and no network, and its answers are scripted. For a real model, enter a provider's key, use
            a pi login, or name a model server of your own: <a href={`${ADDRESSES.setup}/model`}>Set up a model</a>.
          </p>
          <p>A key in the environment works too:</p>
          <Verbatim name="Commands">{"export ANTHROPIC_API_KEY=…\nnpm start"}</Verbatim>
        </div>
      )}
    </div>
  );
}
