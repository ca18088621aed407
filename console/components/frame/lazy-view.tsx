/** Shows a view that is loaded when it is first looked at. A view that cannot be loaded says so, and how to go on. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { View } from "../../state/route.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { LOADERS } from "./view-loaders.ts";

type Loaded = { readonly view: View; readonly component: ComponentType | null };

export function LazyView({ view }: { readonly view: Exclude<View, "chat"> }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  useEffect(() => {
    let current = true;
    const show = (component: ComponentType | null) => current && setLoaded({ view, component });
    LOADERS[view]().then(show, () => show(null));
    return () => {
      current = false;
    };
  }, [view]);
  if (loaded === null || loaded.view !== view) return <div class="chat-frame" aria-busy="true" />;
  const { component: Component } = loaded;
  return Component ? <Component /> : <NotLoaded />;
}

/** The gateway was updated meanwhile and has other files, or it does not answer. */
function NotLoaded() {
  return (
    <div class="chat-frame">
      <EmptyState title="This view could not be loaded.">
        <p>The gateway does not answer, or was updated since this tab was opened.</p>
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload
        </button>
      </EmptyState>
    </div>
  );
}
