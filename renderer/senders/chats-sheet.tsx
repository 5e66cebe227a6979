import { useState } from 'react';
import { many } from '../../app/contract/glance.ts';
import type { ChatRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { nameLabel } from '../parts/clean-name.ts';
import { Field } from '../parts/field.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { Time } from '../parts/time.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { useLookup } from '../parts/use-lookup.ts';
import { engine, useEngine } from '../stores/engine-store.ts';
import './chats-sheet.css';

const NONE: readonly ChatRow[] = [];

/** Picks chats whose members may all ring. */
export function ChatsSheet({ onClose }: { readonly onClose: () => void }) {
  const rules = useEngine(({ slices }) => slices?.chats) ?? NONE;
  const [text, setText] = useState('');
  const { value, problem: unread, busy: looking } = useLookup(text, (each) => engine.chats.find({ text: each, limit: 50 }), 150);
  const { attempt, busy } = useBusyRun();
  const allowed = new Set(rules.map(({ id }) => id));

  return (
    <Sheet title="Allow a group chat" onClose={onClose} actions={<Button look="main" onClick={onClose}>Done</Button>}>
      <p className="muted">Everyone in an allowed chat can trigger an event, also people who join later.</p>
      <Field label="Name of the chat" type="search" value={text} onChange={(event) => setText(event.target.value)} problem={unread} />
      {value !== null && value.length === 0 && !looking && <p className="muted">{text.trim() === '' ? 'No group chat was found.' : 'Nothing matches.'}</p>}
      {value !== null && value.length > 0 && (
        <ul role="list" className="chats" aria-label="Chats">
          {value.map((chat) => (
            <li key={chat.id} className="chat">
              <span className="chat-name"><PersonName text={chat.name} /></span>
              <span className="hint">
                {chat.participants === null ? '' : `${chat.participants === 1 ? '1 person' : `${chat.participants} people`}, `}
                <Time at={chat.lastAt} never="no message yet" />
              </span>
              {allowed.has(chat.id)
                ? <span className="muted">Allowed</span>
                : <Button dense disabled={busy} aria-label={`Allow ${nameLabel(chat.name)}`} onClick={() => void attempt(engine.chats.add({ ids: [chat.id] }))}>Allow</Button>}
            </li>
          ))}
        </ul>
      )}
      {rules.length > 0 && <p className="hint">{many(rules.length, 'chat')} allowed. Remove them in the list of senders.</p>}
    </Sheet>
  );
}
