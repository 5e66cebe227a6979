import { app, shell } from 'electron';
import type { ShellAction } from '../app/contract/shell.ts';
import type { ContractOutcome } from '../app/contract/values.ts';
import { openLink, openProgram, type Link } from './links.ts';

export interface ActionDelegate {
  readonly platform: NodeJS.Platform;
  /** To show in Finder. */
  readonly bundle: string;
  /** Reads once, so that the app stands in the list of System Settings before that opens. */
  readFirst(): Promise<void>;
  settingsOpened(): void;
  restartEngine(): Promise<void>;
  /** Who holds the data folder, as a sentence, or null. */
  otherCopySentence(): string | null;
  hidePanel(): void;
  finishOnboarding(): void;
  checkForUpdates(): Promise<ContractOutcome>;
  restartToUpdate(): Promise<ContractOutcome>;
  /** @returns false where there is no bundle to drag */
  dragApp(): boolean;
}

const did = (sentence: string, changed = false): ContractOutcome => ({ ok: true, changed, sentence });
const refused = (message: string): ContractOutcome => ({ ok: false, code: 'refused', message });

/** The fixed list of what a page, the menu or a headline may ask for. */
export async function act(action: ShellAction, delegate: ActionDelegate): Promise<ContractOutcome> {
  switch (action) {
    case 'open-full-disk-access': {
      await delegate.readFirst();
      const outcome = await open('fullDiskAccess');
      if (outcome.ok) delegate.settingsOpened();
      return outcome;
    }
    case 'open-menu-bar-settings':
      return open('menuBar');
    case 'open-login-items':
      return open('loginItems');
    case 'open-notification-settings':
      return open('notifications');
    case 'open-mail':
      return (await openProgram('mail')) ? did('Mail is opening.') : refused("Mail isn't on this Mac.");
    case 'open-messages':
      return (await openProgram('messages')) ? did('Messages is opening.') : refused("Messages isn't on this Mac.");
    case 'reopen':
      app.relaunch();
      app.quit();
      return did('Belfry is opening again.');
    case 'move-to-applications':
      return move(delegate.platform);
    case 'show-in-finder':
      shell.showItemInFolder(delegate.bundle);
      return did('Shown in Finder.');
    case 'show-other-copy':
      return refused(delegate.otherCopySentence() ?? 'No other copy is running.');
    case 'restart-engine':
      await delegate.restartEngine();
      return did('The engine is starting.', true);
    case 'check-for-updates':
      return delegate.checkForUpdates();
    case 'restart-to-update':
      return delegate.restartToUpdate();
    case 'close-panel':
      delegate.hidePanel();
      return did('Closed.');
    case 'finish-onboarding':
      delegate.finishOnboarding();
      return did('Belfry is set up.', true);
    case 'drag-app':
      return delegate.dragApp() ? did('Drag Belfry into the list.') : refused('Only the packaged app can be dragged.');
    case 'quit':
      app.quit();
      return did('Belfry is quitting.');
  }
}

async function open(link: Link): Promise<ContractOutcome> {
  return (await openLink(link)) ? did('System Settings is opening.') : refused("System Settings couldn't be opened.");
}

/** The app moves itself and starts again from there. A copy in Applications that runs is never replaced. */
function move(platform: NodeJS.Platform): ContractOutcome {
  const byHand = 'Drag Belfry into Applications in Finder, then open it there.';
  if (platform !== 'darwin') return refused('Only a Mac has an Applications folder.');
  try {
    const moved = app.moveToApplicationsFolder({ conflictHandler: (conflict) => conflict === 'exists' });
    return moved ? did('Belfry moves and opens again.', true) : refused(`Belfry wasn't moved. ${byHand}`);
  } catch {
    return refused(`Couldn't move Belfry. ${byHand}`);
  }
}
