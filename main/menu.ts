import type { MenuItemConstructorOptions } from 'electron';
import type { Glance } from '../app/contract/glance.ts';
import type { HealthDeed } from '../app/contract/health.ts';
import type { Section, ShellState } from '../app/contract/shell.ts';
import type { EventType } from '../app/contract/values.ts';

/** What choosing an entry does. The panel has the same (ui.md, section 3). */
export type MenuDeed =
  | HealthDeed
  | { readonly kind: 'event'; readonly type: EventType; readonly on: boolean }
  | { readonly kind: 'pause'; readonly ms: number | null }
  | { readonly kind: 'main' }
  | { readonly kind: 'updates' }
  | { readonly kind: 'quit' };

export type MenuEntry =
  | { readonly kind: 'separator' }
  | { readonly kind: 'text'; readonly label: string }
  | { readonly kind: 'item'; readonly label: string; readonly deed: MenuDeed; readonly checked?: boolean; readonly enabled?: boolean; readonly accelerator?: string }
  | { readonly kind: 'submenu'; readonly label: string; readonly entries: readonly MenuEntry[] };

/** The native menu as values: always complete, from the same model as the panel, without a sender or a subject. */
export function menuOf(glance: Glance, update: ShellState['update']): readonly MenuEntry[] {
  const { health } = glance;
  const separator: MenuEntry = { kind: 'separator' };
  const item = (label: string, deed: MenuDeed, more: { checked?: boolean; enabled?: boolean; accelerator?: string } = {}): MenuEntry => ({ kind: 'item', label, deed, ...more });
  const open = (section: Section): MenuDeed => ({ kind: 'open', section });
  const pause: MenuEntry = {
    kind: 'submenu', label: 'Pause', entries: glance.pause.choices.map(({ label, ms }) => item(label, { kind: 'pause', ms })),
  };
  return [
    { kind: 'text', label: headerOf(health.headline) },
    ...(health.action ? [item(actionLabel(health.action), health.action.deed)] : []),
    separator,
    ...glance.events.map(({ title, type, on }) => item(title, { kind: 'event', type, on: !on }, { checked: on })),
    // While paused the headline's action is to resume, unless something weighs more.
    ...(glance.pause.paused && health.action?.deed.kind !== 'resume' ? [item('Resume', { kind: 'resume' })] : []),
    pause,
    separator,
    item(glance.clientCount === 0 ? 'Clients...' : `Clients (${glance.clientCount})...`, open('clients')),
    item('Open Belfry', { kind: 'main' }, { accelerator: 'CmdOrCtrl+O' }),
    item('Settings...', open('settings'), { accelerator: 'CmdOrCtrl+,' }),
    item(update.state === 'ready' ? 'Restart to Update' : 'Check for Updates...', { kind: 'updates' }, { enabled: update.state !== 'off' && update.state !== 'checking' }),
    item('Quit Belfry', { kind: 'quit' }, { accelerator: 'CmdOrCtrl+Q' }),
  ];
}

/** `Belfry: Watching, 1 client listening`; a headline that names Belfry stands alone. */
function headerOf(headline: string): string {
  const line = headline.replace(/\.$/, '').replaceAll('. ', ', ');
  return line.includes('Belfry') ? line : `Belfry: ${line}`;
}

function actionLabel({ label, deed }: { label: string; deed: HealthDeed }): string {
  return deed.kind === 'shell' && deed.action === 'open-full-disk-access' ? 'Fix Full Disk Access...' : label;
}

/** As Electron builds menus. An `&` would vanish as the mark of a mnemonic. */
export function templateOf(entries: readonly MenuEntry[], choose: (deed: MenuDeed) => void): MenuItemConstructorOptions[] {
  const text = (label: string) => label.replaceAll('&', '&&');
  return entries.map((entry): MenuItemConstructorOptions => {
    switch (entry.kind) {
      case 'separator':
        return { type: 'separator' };
      case 'text':
        return { label: text(entry.label), enabled: false };
      case 'submenu':
        return { label: text(entry.label), submenu: templateOf(entry.entries, choose) };
      case 'item':
        return {
          label: text(entry.label),
          click: () => choose(entry.deed),
          ...(entry.checked !== undefined && { type: 'checkbox', checked: entry.checked }),
          ...(entry.enabled !== undefined && { enabled: entry.enabled }),
          // Shown as a hint; the menu bar of the app is what listens to it.
          ...(entry.accelerator !== undefined && { accelerator: entry.accelerator, registerAccelerator: false }),
        };
    }
  });
}
