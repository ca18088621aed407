/** A row that never shrinks while it is shown, or the rows below it would move up under the pointer. */
import { useLayoutEffect, useRef } from "preact/hooks";

export function useLastingHeight() {
  const item = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    if (item.current) item.current.style.minHeight = `${item.current.getBoundingClientRect().height}px`;
  });
  return item;
}
