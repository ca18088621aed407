/** Text as it is, every character of it: scrolled in its own place when there is much, also with keys. */
import type { ComponentChildren } from "preact";

interface Props {
  /** What a screen reader calls it. */
  readonly name: string;
  readonly children: ComponentChildren;
  /** Lines of a change, each an element that says how it changed. */
  readonly isDiff?: boolean;
  readonly testId?: string;
}

export function Verbatim({ name, children, isDiff = false, testId }: Props) {
  return (
    <pre class={isDiff ? "verbatim diff" : "verbatim"} tabindex={0} aria-label={name} data-testid={testId}>
      {children}
    </pre>
  );
}
