import { useState } from 'react';
import { many } from '../../app/contract/glance.ts';
import type { ChatRow, SenderRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { addressLabel, nameLabel } from '../parts/clean-name.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Field } from '../parts/field.tsx';
import { Address, PersonName } from '../parts/person-name.tsx';
import { Subject } from '../parts/subject.tsx';
import { Switch } from '../parts/switch.tsx';
import { Time } from '../parts/time.tsx';
import { useFind } from '../parts/use-find.ts';
import { useListFocus } from '../parts/use-list-focus.ts';
import { View } from '../parts/view.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { offerUndo, run } from '../stores/notice-store.ts';
import { openAddSender } from '../stores/view-store.ts';
import { ChatsSheet } from './chats-sheet.tsx';
import { EditSheet } from './edit-sheet.tsx';
import { onWords, senderItems, type SenderItem } from './sender-items.ts';
import './senders-view.css';

const NO_RULES: readonly SenderRow[] = [];
const NO_CHATS: readonly ChatRow[] = [];
/** Rows drawn at first; more come when asked for. Search looks at all. */
const PAGE = 200;

export function SendersView() {
  const ready = useEngine(({ slices }) => slices !== null);
  const rules = useEngine(({ slices }) => slices?.senders) ?? NO_RULES;
  const chats = useEngine(({ slices }) => slices?.chats) ?? NO_CHATS;
  const [text, setText] = useState('');
  const [limit, setLimit] = useState(PAGE);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<string | null>(null);
  const [choosingChats, setChoosingChats] = useState(false);
  const find = useFind();
  const items = senderItems(rules, chats, text);
  const chosen = items.filter(({ key }) => selected.has(key));
  const isEmpty = rules.length + chats.length === 0;
  const edited = rules.find((rule) => `${rule.kind} ${rule.value}` === editing) ?? null;

  async function remove(going: readonly SenderItem[]) {
    const done = await removeItems(going);
    if (done) setSelected((before) => new Set([...before].filter((key) => !going.some((item) => item.key === key))));
  }

  return (
    <View
      title="Senders"
      tools={(
        <>
          {!isEmpty && <Field ref={find} label="Search senders" hideLabel placeholder="Search" type="search" value={text} onChange={(event) => setText(event.target.value)} />}
          <Button onClick={() => setChoosingChats(true)}>Group Chats...</Button>
          <Button look="main" icon="plus" onClick={() => openAddSender()}>Add</Button>
        </>
      )}
    >
      {ready && isEmpty && (
        <EmptyState action={<Button look="main" onClick={() => openAddSender()}>Add Senders</Button>}>No senders yet. Until you add one, nothing is sent.</EmptyState>
      )}
      {!isEmpty && (
        <>
          <p className="muted">Only these senders can trigger an event. {onWords(rules, chats)}.</p>
          {items.length === 0
            ? <EmptyState action={<Button onClick={() => setText('')}>Clear</Button>}>Nothing matches.</EmptyState>
            : <SenderTable items={items} limit={limit} selected={selected} onSelect={setSelected} onOpen={setEditing} onRemove={(going) => void remove(going)} />}
          {items.length > limit && <div><Button onClick={() => setLimit(limit + PAGE)}>Show {Math.min(PAGE, items.length - limit)} More</Button></div>}
          {chosen.length > 0 && <SelectionBar items={chosen} onRemove={() => void remove(chosen)} />}
          <p className="hint">Anyone can put any name in From. Treat an event as a hint, not as proof.</p>
        </>
      )}
      {edited && (
        <Subject key={editing} gone="The sender that you were editing is no longer in the list." onClose={() => setEditing(null)}>
          {(close) => (
            <EditSheet
              rule={edited} onClose={close}
              onRemove={() => {
                close();
                void remove(senderItems([edited], [], ''));
              }}
            />
          )}
        </Subject>
      )}
      {choosingChats && <ChatsSheet onClose={() => setChoosingChats(false)} />}
    </View>
  );
}

/** Removes at once and offers to put back: the undo bar, and Cmd-Z. */
async function removeItems(items: readonly SenderItem[]): Promise<boolean> {
  const rules = items.flatMap(({ rule }) => (rule ? [rule.value] : []));
  const chats = items.flatMap(({ chat }) => (chat ? [chat.id] : []));
  if (rules.length > 0 && (await run(engine.senders.remove({ senders: rules }))) === null) return false;
  if (chats.length > 0 && (await run(engine.chats.remove({ ids: chats }))) === null) return false;
  offerUndo(items.length === 1 ? 'Sender removed.' : `${many(items.length, 'sender')} removed.`, () => {
    if (rules.length > 0) void run(engine.senders.undo({}));
    if (chats.length > 0) void run(engine.chats.add({ ids: chats }));
  });
  return true;
}

function SelectionBar({ items, onRemove }: { readonly items: readonly SenderItem[]; readonly onRemove: () => void }) {
  const rules = items.flatMap(({ rule }) => (rule ? [rule] : []));
  const turnOn = rules.length > 0 && rules.every((rule) => !rule.on);
  async function turn() {
    for (const rule of rules) {
      if (rule.on !== turnOn && (await run(engine.senders.set({ sender: rule.value, patch: { on: turnOn } }))) === null) return;
    }
  }
  return (
    <div className="senders-selection" role="group" aria-label="Selected senders">
      <span role="status">{items.length} selected</span>
      {rules.length > 0 && <Button onClick={() => void turn()}>{turnOn ? 'Turn On' : 'Turn Off'}</Button>}
      <Button onClick={onRemove}>Remove</Button>
    </div>
  );
}

const labelOf = ({ chat, title }: SenderItem): string => (chat ? nameLabel(title) : addressLabel(title));

interface SenderTableProps {
  readonly items: readonly SenderItem[];
  /** Of which so many are drawn. */
  readonly limit: number;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly onOpen: (key: string) => void;
  readonly onRemove: (items: readonly SenderItem[]) => void;
}

function SenderTable({ items, limit, selected, onSelect, onOpen, onRemove }: SenderTableProps) {
  const byKey = (key: string) => items.find((item) => item.key === key);
  const toggle = (key: string) => onSelect(selected.has(key) ? new Set([...selected].filter((each) => each !== key)) : new Set([...selected, key]));
  const open = (key: string) => {
    if (byKey(key)?.rule) onOpen(key);
  };
  const drawn = items.slice(0, limit);
  const list = useListFocus({
    keys: drawn.map(({ key }) => key),
    onOpen: open,
    onSelect: toggle,
    onRemove: (key) => onRemove(selected.has(key) ? items.filter((item) => selected.has(item.key)) : items.filter((item) => item.key === key)),
  });
  const all = items.every(({ key }) => selected.has(key));
  return (
    <div className="senders-table" role="grid" aria-label="Allowed senders" aria-multiselectable="true" aria-rowcount={items.length + 1} {...list.listProps}>
      <div role="row" className="senders-row senders-head">
        <div role="columnheader"><Checkbox label="Select all" hideLabel checked={all} onChange={() => onSelect(new Set(all ? [] : items.map(({ key }) => key)))} /></div>
        <div role="columnheader" className="senders-title">Sender</div>
        <div role="columnheader" className="senders-kind">Kind</div>
        <div role="columnheader" className="senders-for">For</div>
        <div role="columnheader" className="senders-last">Last</div>
        <div role="columnheader" className="senders-on">On</div>
      </div>
      {drawn.map((item) => (
        <div
          key={item.key} role="row" className={`senders-row${selected.has(item.key) ? ' senders-selected' : ''}`} aria-selected={selected.has(item.key)}
          onDoubleClick={() => open(item.key)} {...list.itemProps(item.key)}
        >
          <div role="gridcell">
            <Checkbox label={`Select ${labelOf(item)}`} hideLabel checked={selected.has(item.key)} onChange={() => toggle(item.key)} tabIndex={list.within(item.key)} />
          </div>
          <div role="gridcell" className="senders-title">
            <span className="senders-name">{item.chat ? <PersonName text={item.title} /> : <Address text={item.title} />}</span>
            {item.note !== '' && <span className="hint"><PersonName text={item.note} /></span>}
          </div>
          <div role="gridcell" className="senders-kind muted">{item.kind}</div>
          <div role="gridcell" className="senders-for muted">{item.for}</div>
          <div role="gridcell" className="senders-last muted"><Time at={item.lastAt} /></div>
          <div role="gridcell" className="senders-on">
            {item.rule && (
              <Button look="plain" dense tabIndex={list.within(item.key)} aria-label={`Edit ${labelOf(item)}`} onClick={() => onOpen(item.key)}>Edit</Button>
            )}
            {item.rule
              ? <RuleSwitch value={item.rule.value} label={labelOf(item)} on={item.on} tabIndex={list.within(item.key)} />
              : <Button look="plain" dense tabIndex={list.within(item.key)} aria-label={`Remove ${labelOf(item)}`} onClick={() => onRemove([item])}>Remove</Button>}
          </div>
        </div>
      ))}
    </div>
  );
}

/** Shows what was chosen at once; a refusal puts it back and says why. */
function RuleSwitch({ value, label, on, tabIndex }: { readonly value: string; readonly label: string; readonly on: boolean; readonly tabIndex: number }) {
  const [wanted, setWanted] = useState<boolean | null>(null);
  return (
    <Switch
      label={label} on={wanted ?? on} tabIndex={tabIndex}
      onChange={(next) => {
        setWanted(next);
        void run(engine.senders.set({ sender: value, patch: { on: next } })).finally(() => setWanted(null));
      }}
    />
  );
}
