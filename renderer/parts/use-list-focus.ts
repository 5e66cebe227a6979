import { useCallback, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';

interface ListFocusOptions {
  /** Of all items in order, also of those that are not drawn. */
  readonly keys: readonly string[];
  /** Return. */
  readonly onOpen?: (key: string) => void;
  /** Delete or Backspace. */
  readonly onRemove?: (key: string) => void;
  /** Space. */
  readonly onSelect?: (key: string) => void;
  /** The item must come into view, so that it is drawn and can take the focus. */
  readonly onReveal?: (key: string, index: number) => void;
}

/**
 * A list with one tab stop (ui.md, section 5): arrows, Home and End move, Return opens, Delete removes. Controls inside an
 * item follow it: only those of the active item are tab stops.
 */
export function useListFocus({ keys, onOpen, onRemove, onSelect, onReveal }: ListFocusOptions) {
  const [chosen, setChosen] = useState<{ readonly key: string | null; readonly index: number }>({ key: null, index: 0 });
  const wanted = useRef<string | null>(null);
  const focused = useRef<string | null>(null);
  const drawn = useRef(new Map<string, HTMLElement>());

  // An active item that left hands over to the one that took its place.
  const found = chosen.key === null ? -1 : keys.indexOf(chosen.key);
  const index = found >= 0 ? found : Math.min(chosen.index, keys.length - 1);
  if (found >= 0 && found !== chosen.index) setChosen({ key: chosen.key, index: found });
  const active = keys[Math.max(0, index)] ?? null;
  useLayoutEffect(() => {
    // Taken away with the focus on it: nothing blurs then.
    if (focused.current !== null && !drawn.current.has(focused.current)) {
      focused.current = null;
      wanted.current = active;
    }
    if (wanted.current !== null && wanted.current === active) drawn.current.get(wanted.current)?.focus();
  });

  const moveTo = useCallback((key: string, at: number) => {
    wanted.current = key;
    setChosen({ key, index: at });
    onReveal?.(key, at);
    drawn.current.get(key)?.focus();
  }, [onReveal]);

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    // Keys pressed in a control of an item are the control's own.
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || active === null || event.target !== drawn.current.get(active)) return;
    const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: keys.length - 1, PageDown: index + 10, PageUp: index - 10 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      const at = Math.min(Math.max(0, next), keys.length - 1);
      moveTo(keys[at]!, at);
    } else if (event.key === 'Enter' && onOpen) {
      event.preventDefault();
      onOpen(active);
    } else if (event.key === ' ' && onSelect) {
      event.preventDefault();
      onSelect(active);
    } else if ((event.key === 'Delete' || event.key === 'Backspace') && onRemove) {
      event.preventDefault();
      wanted.current = keys[index + 1] ?? keys[index - 1] ?? null;
      onRemove(active);
    }
  }

  return {
    active,
    moveTo,
    /** On the element that holds the items. */
    listProps: { onKeyDown },
    /** On each item that is drawn. */
    itemProps: (key: string) => ({
      tabIndex: key === active ? 0 : -1,
      'data-active': key === active || undefined,
      ref: (element: HTMLElement | null) => {
        if (element) drawn.current.set(key, element);
        else drawn.current.delete(key);
      },
      onBlur: () => {
        focused.current = null;
      },
      onFocus: () => {
        wanted.current = null;
        focused.current = key;
        setChosen({ key, index: Math.max(0, keys.indexOf(key)) });
      },
    }),
    /** The tab index of the controls inside an item. */
    within: (key: string) => (key === active ? 0 : -1),
  };
}
