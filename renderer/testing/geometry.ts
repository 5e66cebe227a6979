import type { Page } from 'playwright-core';

/**
 * What is wrong with the places of things, one line each (ui.md, U4): the page scrolls sideways, a text or control sticks out of
 * the window or is cut without an ellipsis, or two controls lie over each other. Code boxes may scroll.
 */
export async function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    const root = document.documentElement;
    const name = (element: Element) => `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent ?? '').trim().slice(0, 40)}"`;
    const dialog = document.querySelector('dialog[open]');
    const visible = (element: Element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getBoundingClientRect().width > 1;
    // What a sheet covers is not to be reached.
    const within = dialog ?? document.body;
    if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth} px wide in ${root.clientWidth}`);
    for (const element of within.querySelectorAll<HTMLElement>('*')) {
      if (!visible(element) || element.closest('pre, .hidden-text, svg')) continue;
      const style = getComputedStyle(element);
      const scrolls = style.overflowX === 'auto' || style.overflowX === 'scroll';
      if (scrolls && element.scrollWidth > element.clientWidth + 1) faults.push(`scrolls sideways: ${name(element)}`);
      const cuts = style.overflowX === 'hidden' || style.overflowX === 'clip';
      if (cuts && style.textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1) faults.push(`cut at its side: ${name(element)}`);
      // A text that is cut off below is lost; one that ends in an ellipsis is shown whole elsewhere.
      const hides = style.overflowY === 'hidden' || style.overflowY === 'clip';
      if (hides && element.scrollHeight > element.clientHeight + 2 && style.whiteSpace !== 'nowrap') faults.push(`cut below: ${name(element)}`);
      const box = element.getBoundingClientRect();
      if (box.right > root.clientWidth + 1 || box.left < -1) faults.push(`outside of the window: ${name(element)} ${Math.round(box.left)} to ${Math.round(box.right)}`);
    }
    /** What can be seen of a box: not what its scrolling ancestors hide. */
    const seen = (element: Element) => {
      const box = element.getBoundingClientRect();
      const shown = { left: box.left, right: box.right, top: box.top, bottom: box.bottom };
      for (let parent = element.parentElement; parent; parent = parent.parentElement) {
        if (getComputedStyle(parent).overflowY === 'visible') continue;
        const clip = parent.getBoundingClientRect();
        shown.left = Math.max(shown.left, clip.left);
        shown.right = Math.min(shown.right, clip.right);
        shown.top = Math.max(shown.top, clip.top);
        shown.bottom = Math.min(shown.bottom, clip.bottom);
      }
      return shown;
    };
    const controls = [...within.querySelectorAll<HTMLElement>('button, input, select, textarea, summary, a[href]')].filter((element) => visible(element) && !element.closest('[role=menu]'));
    controls.forEach((element, index) => {
      const a = seen(element);
      for (const other of controls.slice(index + 1)) {
        if (element.contains(other) || other.contains(element)) continue;
        const b = seen(other);
        const [wide, high] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
        if (wide > 1 && high > 1) faults.push(`${name(element)} lies over ${name(other)}`);
      }
      const least = element.closest('.button-dense, .checkbox-line, .switch, [data-dense]') || element.tagName === 'SUMMARY' ? 24 : 28;
      const target = element.matches('input[type=checkbox], input[type=radio]') ? (element.closest('label') ?? element) : element;
      const { height } = target.getBoundingClientRect();
      if (height < least - 0.5) faults.push(`${Math.round(height)} px high: ${name(element)}`);
    });
    return [...new Set(faults)];
  });
}
