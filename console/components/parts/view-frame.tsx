/** The frame of every view that is no conversation: one region that scrolls, one column, and tabs where an area has several views. */
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { view } from "../../state/console-state.ts";
import { ADDRESSES, type View } from "../../state/route.ts";

interface Props {
  /** What a screen reader calls the region. */
  readonly name: string;
  readonly testId: string;
  readonly region?: RefObject<HTMLDivElement | null>;
  readonly tabs?: readonly Tab[];
  readonly children: ComponentChildren;
}

export interface Tab {
  readonly view: Exclude<View, "chat" | "turn">;
  readonly name: string;
}

export function ViewFrame({ name, testId, region, tabs, children }: Props) {
  return (
    <div class="chat-frame">
      <div class="chat" tabindex={0} role="region" aria-label={name} data-testid={testId} ref={region ?? null}>
        <div class="column">
          {tabs && <Tabs name={name} tabs={tabs} />}
          {children}
        </div>
      </div>
    </div>
  );
}

/** One row on a phone, which scrolls: it begins at the view that is open, and fades out where there is more. */
function Tabs({ name, tabs }: { readonly name: string; readonly tabs: readonly Tab[] }) {
  const row = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const shown = row.current;
    if (!shown) return undefined;
    const sized = new ResizeObserver(() => {
      showCurrent(shown);
      markMore(shown);
    });
    sized.observe(shown);
    return () => sized.disconnect();
  }, []);
  return (
    <nav class="views" aria-label={name} ref={row} onScroll={(event) => markMore(event.currentTarget)}>
      {tabs.map((tab) => (
        <a key={tab.view} href={ADDRESSES[tab.view]} aria-current={view.value === tab.view ? "page" : undefined}>
          {tab.name}
        </a>
      ))}
    </nav>
  );
}

function showCurrent(row: HTMLElement): void {
  const current = row.querySelector("[aria-current]")?.getBoundingClientRect();
  if (!current) return;
  const { left, width } = row.getBoundingClientRect();
  row.scrollBy({ left: current.left + current.width / 2 - left - width / 2 });
}

/** Sides of the screen, whichever way it is read: the fade is painted there. */
function markMore(row: HTMLElement): void {
  const { left, right } = row.getBoundingClientRect();
  const tabs = [...row.children].map((tab) => tab.getBoundingClientRect());
  const sides = [
    ...(tabs.some((tab) => tab.left < left - 1) ? ["left"] : []),
    ...(tabs.some((tab) => tab.right > right + 1) ? ["right"] : []),
  ];
  row.dataset["more"] = sides.join(" ");
}
