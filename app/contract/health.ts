import { withoutQuotes } from '../text/quotes.ts';
import { cleanName, cutName } from './name.ts';
import type { ShellAction, ShellState, Section } from './shell.ts';
import type { ClientRow, Slices } from './values.ts';

/** The states of the menu bar in the order of their weight: the first that is true is shown (ui.md, section 2). */
export type HealthId =
  | 'checking' | 'wrongPlace' | 'otherCopy' | 'engineStopped' | 'tampered' | 'accessLost' | 'accessMissing' | 'needsReopen' | 'sourceMissing'
  | 'clientAsking' | 'paused' | 'allOff' | 'noSenders' | 'noListener' | 'listening';
export type HealthIcon = 'off' | 'attention' | 'stopped' | 'paused' | 'watching' | 'listening';

/** What the one button of a headline does: an action of the shell, a section of the main window, or resuming. */
export type HealthDeed =
  | { readonly kind: 'shell'; readonly action: ShellAction }
  | { readonly kind: 'open'; readonly section: Section }
  | { readonly kind: 'resume' };

export interface Health {
  readonly id: HealthId;
  readonly icon: HealthIcon;
  readonly headline: string;
  readonly action: { readonly label: string; readonly deed: HealthDeed } | null;
  /** Shown as a banner, not only as the line of text: something is wrong or waits for the owner. */
  readonly banner: boolean;
}

export interface HealthFacts {
  readonly shell: Pick<ShellState, 'kind' | 'engine' | 'location' | 'otherCopy' | 'needsReopen'>;
  /** Null before the first snapshot. */
  readonly slices: Pick<Slices, 'status' | 'events' | 'senders' | 'chats' | 'clients' | 'pausedUntil' | 'access' | 'waiting'> | null;
}

const shellDeed = (label: string, action: ShellAction) => ({ label, deed: { kind: 'shell', action } as const });
const openDeed = (label: string, section: Section) => ({ label, deed: { kind: 'open', section } as const });

/** @param time renders a Unix ms time as the owner reads it: `11:30`, or with the day if it isn't today. */
export function healthOf({ shell, slices }: HealthFacts, time: (at: number) => string): Health {
  const health = (id: HealthId, icon: HealthIcon, headline: string, action: Health['action'], banner = icon === 'attention' || icon === 'stopped'): Health =>
    ({ id, icon, headline, action, banner });

  if (shell.kind === 'app' && shell.location !== 'ok' && shell.location !== 'unpackaged') {
    return health('wrongPlace', 'attention', 'Belfry is running from a temporary copy.', shellDeed('Move and Reopen', 'move-to-applications'));
  }
  if (shell.otherCopy) return health('otherCopy', 'attention', 'Another copy of Belfry is running.', shellDeed('Show It', 'show-other-copy'));
  if (shell.engine === 'stopped') return health('engineStopped', 'stopped', 'Belfry has stopped watching.', shellDeed('Restart', 'restart-engine'));
  if (slices === null) return health('checking', 'off', 'Checking...', null);
  if (slices.status.seal === 'broken') {
    return health('tampered', 'attention', 'Settings were changed outside Belfry. Everything is off.', openDeed('Review', 'settings'));
  }

  const { mail, messages } = slices.access;
  const on = slices.events.filter((event) => event.on);
  const stores = [
    { access: mail, read: slices.status.stores.mail, on: on.some(({ type }) => type === 'mail.received'), name: 'Mail', open: 'open-mail' },
    { access: messages, read: slices.status.stores.messages, on: on.some(({ type }) => type === 'messages.received'), name: 'Messages', open: 'open-messages' },
  ] as const;
  const denied = stores.filter(({ access }) => access.state === 'denied');
  if (denied.length > 0) {
    if (shell.needsReopen) return health('needsReopen', 'attention', 'Access is on. Reopen Belfry to use it.', shellDeed('Reopen', 'reopen'));
    const fix = shellDeed('Open Full Disk Access', 'open-full-disk-access');
    if (denied.some(({ access }) => access.everRead)) return health('accessLost', 'attention', 'Belfry can no longer read Mail or Messages.', fix);
    return health('accessMissing', 'attention', "Belfry can't read Mail or Messages yet.", fix);
  }
  // Where neither store is there access can't tell, but whoever tries to read one for its event is told.
  const missing = stores.find((store) => store.on && (store.access.state === 'missing' || store.read.state === 'not_there'));
  if (missing) return health('sourceMissing', 'attention', `${missing.name} isn't set up on this Mac.`, shellDeed(`Open ${missing.name}`, missing.open));

  if (slices.waiting.length > 0) {
    return health('clientAsking', 'attention', askingSentence(slices), openDeed('Review', 'clients'));
  }
  if (slices.pausedUntil !== null) {
    const until = slices.pausedUntil === 'resumed' ? 'until you resume' : `until ${time(slices.pausedUntil)}`;
    return health('paused', 'paused', `Paused ${until}.`, { label: 'Resume', deed: { kind: 'resume' } });
  }
  if (on.length === 0) return health('allOff', 'off', 'Everything is off.', openDeed('Choose Events', 'events'));
  if (!slices.senders.some((rule) => rule.on) && slices.chats.length === 0) {
    return health('noSenders', 'off', 'No sender is allowed yet, so nothing is sent.', openDeed('Add Senders', 'senders'));
  }
  const listening = slices.clients.filter((client) => client.state === 'listening').length;
  if (listening === 0) return health('noListener', 'watching', 'Watching. No client is listening.', openDeed('Show How', 'clients'));
  return health('listening', 'listening', `Watching. ${listening} client${listening === 1 ? '' : 's'} listening.`, null);
}

/** What waits for the owner in one sentence, without a word of what would be sent. A text comes first: it ends by itself. */
function askingSentence({ waiting, clients }: Pick<Slices, 'waiting' | 'clients'>): string {
  const nameOf = (id: string | null, unknown: string) => {
    const client = clients.find((row) => row.id === id);
    return client ? quotedName(client) : unknown;
  };
  const text = waiting.find(({ kind }) => kind === 'send' || kind === 'draft');
  if (text) return `${nameOf(text.client, 'A client')} wants to ${text.kind === 'send' ? 'send a message' : 'open a draft in Mail'}.`;
  const signIn = waiting.find((entry) => entry.kind === 'sign-in');
  if (signIn) return `${quotedName({ label: signIn.name, display: '', id: signIn.client })} asks to sign in.`;
  const asking = waiting.find(({ kind }) => kind === 'client');
  if (asking) return `${nameOf(asking.id, 'A new client')} wants events.`;
  const wants = waiting.find((entry) => entry.kind === 'change' && entry.grants.length > 0);
  return wants ? `${nameOf(wants.client, 'A client')} wants to do more than hear of events.` : 'A program asks to change what is allowed.';
}

/** What a client calls itself, in quotes since anybody can say anything, and without any of its own; else the program that was found. Cleaned before it is cut. */
export function quotedName(client: Pick<ClientRow, 'label' | 'display' | 'id'>): string {
  const said = withoutQuotes(cleanName(client.label ?? ''));
  const program = withoutQuotes(cleanName(client.display).split('/').at(-1)!);
  return `"${cutName(said || program || client.id, 64)}"`;
}
