import { type RefObject, useEffect } from "react";

/** Marks a scroller, as `data-more`, while it has columns beyond its right edge. */
export function useMoreBeside(scroller: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = scroller.current;
    if (element === null) {
      return undefined;
    }
    const mark = () => {
      const rest = element.scrollWidth - element.clientWidth - element.scrollLeft;
      element.dataset.more = String(rest > 1);
    };
    const sizes = new ResizeObserver(mark);
    for (const each of [element, ...element.children]) {
      sizes.observe(each);
    }
    element.addEventListener("scroll", mark, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", mark);
    };
  }, [scroller]);
}
