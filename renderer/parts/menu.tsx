import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import './menu.css';

export interface MenuItem {
  readonly label: string;
  readonly onChoose: () => void;
}

interface MenuProps {
  readonly label: ReactNode;
  readonly items: readonly MenuItem[];
  readonly look?: 'normal' | 'plain';
  /** The edge of the button at which the menu stands. */
  readonly align?: 'start' | 'end';
  readonly disabled?: boolean;
}

const choicesIn = (root: HTMLElement | null) => [...(root?.querySelectorAll<HTMLButtonElement>('[role=menuitem]') ?? [])];

/** A button with a menu: arrows move, Return chooses, Esc closes; the focus goes back to the button. */
export function Menu({ label, items, look = 'normal', align = 'end', disabled = false }: MenuProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!open) return undefined;
    choicesIn(root.current)[0]?.focus();
    const onPointer = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', onPointer);
    return () => document.removeEventListener('pointerdown', onPointer);
  }, [open]);

  function close() {
    setOpen(false);
    button.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (!open) {
      if (event.key !== 'ArrowDown') return;
      event.preventDefault();
      setOpen(true);
      return;
    }
    const all = choicesIn(root.current);
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const next = { ArrowDown: (at + 1) % all.length, ArrowUp: (at - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      all[next]?.focus();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === 'Tab') setOpen(false);
  }

  return (
    // The keys belong to the button and to the items: this element only hears them on their way up.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <span ref={root} className="menu" onKeyDown={onKeyDown}>
      <Button
        ref={button} look={look} disabled={disabled} aria-haspopup="menu" aria-expanded={open} aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {label}
        <Icon id="chevron-down" size={12} />
      </Button>
      {open && (
        <div id={id} role="menu" className={`menu-list menu-${align}`}>
          {items.map((item) => (
            <button
              key={item.label} type="button" role="menuitem" tabIndex={-1} className="menu-item"
              onClick={() => {
                close();
                item.onChoose();
              }}
            >
              {item.label}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}
