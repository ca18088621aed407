/** Shows a view that is loaded when it is first looked at. Without a connection a view that was never loaded waits for it. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { hasNavigated, isAway } from "../../state/console-state.ts";
import type { View } from "../../state/route.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { LOADERS } from "./view-loaders.ts";

type Loaded = { readonly view: View; readonly component: ComponentType | null };

/** Those that were loaded before need no connection. */
const known = new Map<View, ComponentType>();

export function LazyView({ view }: { readonly view: Exclude<View, "chat"> }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  // A browser does not fetch a file again that it could not fetch once, so none is asked for in vain.
  const waits = isAway.value && !known.has(view);
  useEffect(() => {
    let current = true;
    const show = (component: ComponentType | null) => {
      if (component !== null) known.set(view, component);
      if (current) setLoaded({ view, component });
    };
    if (waits) show(null);
    else LOADERS[view]().then(show, () => show(null));
    return () => {
      current = false;
    };
  }, [view, waits]);
  useEffect(() => {
    if (loaded?.view === view) focusView();
  }, [loaded]);
  if (loaded === null || loaded.view !== view) return <div class="chat-frame" aria-busy="true" />;
  const { component: Component } = loaded;
  return Component ? <Component /> : <NotLoaded waits={waits} />;
}

/**
 * A link that was pressed in the rail or among the tabs of a view leaves the focus there, or takes it along when its view goes. The next stop of
 * Tab is then the first thing in the new view. What has taken the focus by itself keeps it.
 */
function focusView(): void {
  const { activeElement } = document;
  const isFree = activeElement === null || activeElement === document.body;
  if (!hasNavigated.value) return; // nothing has the focus at first, so that Tab begins with the rail
  if (isFree || activeElement.closest(".rail, .views") !== null)
    document.querySelector<HTMLElement>(".main [role=region]")?.focus({ preventScroll: true });
}

/** `waits`: it comes with the connection. Otherwise the gateway was updated meanwhile and has other files, or the connection broke at this very moment. */
function NotLoaded({ waits }: { readonly waits: boolean }) {
  return (
    <div class="chat-frame">
      <EmptyState title={waits ? "This view waits for the connection." : "This view could not be loaded."}>
        {!waits && (
          <>
            <p>The gateway does not answer, or was updated since this tab was opened.</p>
            <button type="button" class="primary" onClick={() => location.reload()}>
              Reload
            </button>
          </>
        )}
      </EmptyState>
    </div>
  );
}
