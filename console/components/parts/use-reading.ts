/** Reads what a view shows when it is opened, when one of its inputs changes, and again whenever the connection is back: what could not be read then is read now. */
import { useEffect, useRef } from "preact/hooks";
import { line } from "../../state/console-state.ts";

export function useReading(read: () => unknown, inputs: readonly unknown[] = []): void {
  const isOpen = line.value === "open";
  const hasRead = useRef(false);
  useEffect(() => {
    if (hasRead.current && !isOpen) return; // it would fail, and take away what is shown
    hasRead.current = true;
    read();
  }, [isOpen, ...inputs]);
}
