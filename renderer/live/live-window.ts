/** Every row of Live is this high (ui.md, Live: 56 px), in rem so that larger text fits too. */
export const ROW_REM = 3.5;
/** Rows in the document at most, the focused one included. */
export const MAX_ROWS = 60;
/** Rows beyond each edge, so that a fast scroll does not show a gap. */
const OVERSCAN = 8;

/** Which rows are in the document: `first` to `last` without `last`, and the focused one if it is elsewhere. */
export interface RowWindow {
  readonly first: number;
  readonly last: number;
  readonly focused: number | null;
}

/** What is seen of the list, in CSS px. */
export interface Viewport {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
}

/** @param count rows in all @param focused index that stays mounted wherever the list is scrolled to, or null */
export function windowOf({ scrollTop, height, rowHeight }: Viewport, count: number, focused: number | null): RowWindow {
  const top = Math.min(Math.max(0, scrollTop), Math.max(0, count * rowHeight - height));
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN, first + MAX_ROWS - 1);
  const elsewhere = focused !== null && focused < count && (focused < first || focused >= last);
  return { first, last, focused: elsewhere ? focused : null };
}

/** Indices to draw, in order: the reading order is that of the document. */
export function indicesOf({ first, last, focused }: RowWindow): readonly number[] {
  const indices = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
  if (focused === null) return indices;
  return focused < first ? [focused, ...indices] : [...indices, focused];
}

/** The scroll position at which a row is wholly seen, moving as little as can be. */
export function scrollToShow(index: number, { scrollTop, height, rowHeight }: Viewport): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}
