import { useCallback, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type Ref } from 'react';
import type { LiveRow } from '../../app/contract/values.ts';
import { copyText } from '../stores/own-machine.ts';
import { useListFocus } from '../parts/use-list-focus.ts';
import { openAddSender, useView } from '../stores/view-store.ts';
import { AllowSender, rowText, RowContent } from './live-row.tsx';
import { indexOfId } from './live-rows.ts';
import { setBusy } from './live-store.ts';
import { indicesOf, ROW_REM, scrollToShow, windowOf, type Viewport } from './live-window.ts';
import './live-list.css';

export interface LiveListHandle {
  /** Scrolls to the newest row and, for a reader at the keyboard, puts the focus on it. */
  toTop(focus: boolean): void;
  focusRow(id: number): void;
}

interface LiveListProps {
  readonly rows: readonly LiveRow[];
  /** The row whose detail is shown, or null. */
  readonly openId: number | null;
  readonly onOpen: (id: number) => void;
  /** The reader is at the list: it must stand still. */
  readonly held: boolean;
  readonly ref?: Ref<LiveListHandle>;
}

/** CSS px, at the text size of the reader. */
const rowHeightNow = (): number => ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

const FIRST_VIEWPORT: Viewport = { scrollTop: 0, height: 640, rowHeight: ROW_REM * 16 };

/** Rows newest first, of which only those around the viewport are in the document. */
export function LiveList({ rows, openId, onOpen, held, ref }: LiveListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState(FIRST_VIEWPORT);
  const keys = useMemo(() => rows.map(({ id }) => String(id)), [rows]);

  const measure = useCallback(() => {
    const { scrollTop, clientHeight: height } = box.current!;
    const rowHeight = rowHeightNow();
    // Within a row nothing changes but whether the list is at its top.
    const step = Math.min(scrollTop, 1) + Math.floor(scrollTop / rowHeight) * rowHeight;
    setViewport((before) => (before.scrollTop === step && before.height === height && before.rowHeight === rowHeight ? before : { scrollTop: step, height, rowHeight }));
  }, []);
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [measure]);

  const reveal = useCallback((_key: string, index: number) => {
    const element = box.current!;
    element.scrollTop = scrollToShow(index, { scrollTop: element.scrollTop, height: element.clientHeight, rowHeight: rowHeightNow() });
    measure();
  }, [measure]);
  const list = useListFocus({ keys, onOpen: (key) => onOpen(Number(key)), onReveal: reveal });

  const isBusy = viewport.scrollTop > 0 || held || openId !== null;
  useLayoutEffect(() => setBusy(isBusy), [isBusy]);
  useLayoutEffect(() => () => setBusy(false), []);

  useImperativeHandle(ref, () => ({
    toTop(focus) {
      box.current!.scrollTop = 0;
      measure();
      const first = keys[0];
      if (focus && first !== undefined) list.moveTo(first, 0);
    },
    focusRow(id) {
      const index = indexOfId(rows, id);
      if (index >= 0) list.moveTo(String(id), index);
    },
  }));

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const isCopy = event.key.toLowerCase() === 'c' && (event.metaKey || event.ctrlKey) && !event.shiftKey && !event.altKey;
    if (isCopy && window.getSelection()?.isCollapsed !== false) {
      const row = activeIndex < 0 ? undefined : rows[activeIndex];
      if (row) void copyText(rowText(row, useView.getState().hideDetails));
      event.preventDefault();
      return;
    }
    list.listProps.onKeyDown(event);
  }

  const activeIndex = list.active === null ? -1 : indexOfId(rows, Number(list.active));
  const indices = indicesOf(windowOf(viewport, rows.length, activeIndex < 0 ? null : activeIndex));
  return (
    <div ref={box} className="live-list" onScroll={measure} data-busy={isBusy || undefined}>
      {/* Keys pressed in a row are heard here on their way up. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <ul
        role="list" aria-label="Events, newest first" className="live-rows" style={{ height: `${rows.length * ROW_REM}rem` }}
        onKeyDown={onKeyDown}
      >
        {indices.map((index) => {
          const row = rows[index]!;
          const key = keys[index]!;
          return (
            <li
              key={key} className={`live-item${row.id === openId ? ' live-open' : ''}`} aria-setsize={rows.length} aria-posinset={index + 1}
              style={{ top: `${index * ROW_REM}rem` }}
            >
              <button type="button" className="live-row" aria-expanded={row.id === openId} onClick={() => onOpen(row.id)} {...list.itemProps(key)}>
                <RowContent row={row} />
              </button>
              <AllowSender row={row} tabIndex={list.within(key)} onAllow={() => openAddSender(row.sender)} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
