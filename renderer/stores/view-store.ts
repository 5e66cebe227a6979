import { create } from 'zustand';
import type { Section } from '../../app/contract/shell.ts';

interface ViewState {
  readonly section: Section;
  /** Names and subjects are swapped for "An allowed sender". */
  readonly hideDetails: boolean;
  /** The Add sheet is open, with this text in it. */
  readonly addSender: { readonly text: string } | null;
  /** The Connect sheet is open for this program. */
  readonly connect: { readonly id: string } | null;
  /** Rises with each Cmd-F: the view that has a filter field takes the focus. */
  readonly finds: number;
}

export const useView = create<ViewState>()(() => ({ section: 'events', hideDetails: false, addSender: null, connect: null, finds: 0 }));

export function openSection(section: Section): void {
  useView.setState({ section });
}

export function openAddSender(text = ''): void {
  useView.setState({ addSender: { text } });
}

export function openConnect(id: string): void {
  useView.setState({ connect: { id } });
}

export function closeSheets(): void {
  useView.setState({ addSender: null, connect: null });
}

export function requestFind(): void {
  useView.setState(({ finds }) => ({ finds: finds + 1 }));
}

/** From the menu, a notification or a shortcut. */
export function navigate(target: Section | 'add-sender' | 'find'): void {
  if (target === 'add-sender') openAddSender();
  else if (target === 'find') requestFind();
  else openSection(target);
}
