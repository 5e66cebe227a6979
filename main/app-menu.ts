import type { MenuItemConstructorOptions } from 'electron';
import type { Section } from '../app/contract/shell.ts';

export interface AppMenuDelegate {
  open(section: Section): void;
  navigate(to: 'add-sender' | 'find'): void;
  togglePause(): void;
}

const SECTIONS: readonly (readonly [Section, string])[] = [['events', 'Events'], ['senders', 'Senders'], ['live', 'Live'], ['clients', 'Clients'], ['activity', 'Activity']];

/** The menu bar while a window is open: the keys of ui.md, section 5, and the system's own for text and windows. */
export function appMenuTemplate(delegate: AppMenuDelegate): MenuItemConstructorOptions[] {
  return [
    {
      label: 'Belfry',
      submenu: [
        { role: 'about' },
        { type: 'separator' },
        { label: 'Settings...', accelerator: 'CmdOrCtrl+,', click: () => delegate.open('settings') },
        { label: 'Pause or Resume', accelerator: 'CmdOrCtrl+.', click: () => delegate.togglePause() },
        { type: 'separator' },
        { role: 'hide' }, { role: 'hideOthers' }, { role: 'unhide' },
        { type: 'separator' },
        { role: 'quit' },
      ],
    },
    {
      label: 'Edit',
      submenu: [
        { role: 'undo' }, { role: 'redo' }, { type: 'separator' }, { role: 'cut' }, { role: 'copy' }, { role: 'paste' }, { role: 'selectAll' },
        { type: 'separator' },
        { label: 'Add Sender...', accelerator: 'CmdOrCtrl+N', click: () => delegate.navigate('add-sender') },
        { label: 'Find', accelerator: 'CmdOrCtrl+F', click: () => delegate.navigate('find') },
      ],
    },
    {
      label: 'View',
      submenu: [
        ...SECTIONS.map(([section, label], at): MenuItemConstructorOptions => ({ label, accelerator: `CmdOrCtrl+${at + 1}`, click: () => delegate.open(section) })),
        { label: 'Diagnostics', click: () => delegate.open('diagnostics') },
        { type: 'separator' },
        { role: 'resetZoom' }, { role: 'zoomIn' }, { role: 'zoomOut' },
      ],
    },
    { label: 'Window', role: 'window', submenu: [{ role: 'minimize' }, { role: 'close' }] },
  ];
}
