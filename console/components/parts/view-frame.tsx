/** The frame of every view that is no conversation: one region that scrolls, one column, and tabs where an area has several views. */
import type { ComponentChildren, RefObject } from "preact";
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

function Tabs({ name, tabs }: { readonly name: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav class="views" aria-label={name}>
      {tabs.map((tab) => (
        <a key={tab.view} href={ADDRESSES[tab.view]} aria-current={view.value === tab.view ? "page" : undefined}>
          {tab.name}
        </a>
      ))}
    </nav>
  );
}
