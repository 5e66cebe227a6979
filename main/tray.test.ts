import { beforeEach, expect, test, vi } from 'vitest';
import { glanceOf } from '../app/contract/glance.ts';
import { untilWords } from '../app/contract/time-words.ts';
import { answers, callsOf, reset, Tray } from './testing/electron-double.ts';
import { healthCases, PAUSED_UNTIL } from './testing/health-facts.ts';
import { MenuBarIcon, type TrayDelegate } from './tray.ts';

beforeEach(reset);

const NOW = PAUSED_UNTIL - 3_600_000;
const made = (change: Partial<TrayDelegate> = {}) => {
  const delegate = {
    clickOpens: () => 'panel' as const, togglePanel: vi.fn<TrayDelegate['togglePanel']>(() => true), openMainWindow: vi.fn<() => void>(), menu: () => 'menu' as never, ...change,
  };
  const icon = new MenuBarIcon('/icons', delegate);
  icon.show();
  return { icon, delegate, tray: Tray.made[0]! };
};

test.each(healthCases)('$id: icon $icon, and its headline as the tooltip', ({ id, icon: wanted, headline, action, shell, slices }) => {
  const { health } = glanceOf({ shell, slices }, NOW, (at) => untilWords(at, NOW));
  expect(health).toMatchObject({ id, icon: wanted, headline });
  expect(health.action?.label ?? null).toBe(action);
  const { icon } = made();
  icon.update(health);
  const images = [callsOf('tray').at(-1)![0], ...callsOf('tray.setImage').map(([image]) => image)];
  expect(images.at(-1)).toBe(`/icons/${wanted}Template.png`);
  expect(callsOf('tray.setToolTip').at(-1)).toEqual([headline]);
});

test('the icon has a fixed id, so that its place is kept, and takes each click as one click', () => {
  made();
  expect(callsOf('tray')[0]![1]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(callsOf('tray.setIgnoreDoubleClickEvents')).toEqual([[true]]);
});

test('a left click toggles the panel at the icon, a right click and Control-click open the menu', () => {
  const { tray, delegate } = made();
  tray.emit('click', {});
  expect(delegate.togglePanel).toHaveBeenCalledWith(answers.trayBounds);
  expect(callsOf('tray.popUpContextMenu')).toEqual([]);
  tray.emit('right-click', {});
  tray.emit('click', { ctrlKey: true });
  expect(callsOf('tray.popUpContextMenu')).toEqual([['menu'], ['menu']]);
  expect(delegate.togglePanel).toHaveBeenCalledTimes(1);
});

test('with VoiceOver, and by the owner\'s choice, a click opens the menu', () => {
  answers.accessibility = true;
  const { tray } = made();
  tray.emit('click', {});
  answers.accessibility = false;
  expect(callsOf('tray.popUpContextMenu').length).toBe(1);
  reset();
  const chosen = made({ clickOpens: () => 'menu' });
  chosen.tray.emit('click', {});
  expect(callsOf('tray.popUpContextMenu').length).toBe(1);
});

test('where there is no place for a panel the main window opens', () => {
  const { tray, delegate } = made({ togglePanel: () => false });
  tray.emit('click', {});
  expect(delegate.openMainWindow).toHaveBeenCalledTimes(1);
});

test('an image or a tooltip that is the same is not set again', () => {
  const { icon } = made();
  icon.update({ icon: 'off', headline: 'Checking...' });
  expect(callsOf('tray.setImage')).toEqual([]);
  expect(callsOf('tray.setToolTip').length).toBe(1);
});
