import { focusTitle } from './view.tsx';

const canHaveFocus = (element: HTMLElement): boolean => element.isConnected && !element.matches(':disabled') && element.checkVisibility();

const nothingHasFocus = (): boolean => document.activeElement === null || document.activeElement === document.body;

/**
 * The focus never falls out of the page (ui.md, section 5): what had it and is gone hands it to the title, of the sheet that is
 * open or else of the view; what only can't be pressed for a moment has it back afterwards. Lists and sheets that know a
 * better place hand it over themselves, and come first. @returns the way to stop
 */
export function keepFocus(): () => void {
  let last: HTMLElement | null = null;

  function onFocusIn({ target }: FocusEvent) {
    last = target instanceof HTMLElement ? target : null;
  }

  // What could keep the focus and lost it to nothing was left by its owner, with a click beside every control.
  function onFocusOut({ target }: FocusEvent) {
    queueMicrotask(() => {
      if (target === last && last !== null && nothingHasFocus() && canHaveFocus(last)) last = null;
    });
  }

  function handOver() {
    if (last === null || !nothingHasFocus()) return;
    if (canHaveFocus(last)) last.focus();
    else if (!last.isConnected || !last.checkVisibility()) focusTitle();
  }

  const observer = new MutationObserver(handOver);
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  document.addEventListener('focusin', onFocusIn);
  document.addEventListener('focusout', onFocusOut);
  return () => {
    observer.disconnect();
    document.removeEventListener('focusin', onFocusIn);
    document.removeEventListener('focusout', onFocusOut);
  };
}
