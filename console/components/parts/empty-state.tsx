/** A view without content: says what belongs here and how to begin. */
import type { ComponentChildren } from "preact";

export function EmptyState({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
