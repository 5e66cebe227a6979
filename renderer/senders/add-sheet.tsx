import { useRef, useState } from 'react';
import { many } from '../../app/contract/glance.ts';
import type { SenderRow, Suggestion } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox, RadioGroup } from '../parts/checkbox.tsx';
import { TextArea } from '../parts/field.tsx';
import { Icon, type IconId } from '../parts/icon.tsx';
import { Address, PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { useLookup } from '../parts/use-lookup.ts';
import { engine, useEngine } from '../stores/engine-store.ts';
import { BacktestBox } from './backtest-box.tsx';
import { ExceptionsField, exceptionsOf } from './exceptions-field.tsx';
import { hasDomain, readPaste, typedEntry, withEntry, type PasteLine } from './paste.ts';
import './add-sheet.css';

const TARGETS = [
  { value: 'both', label: 'Mail and Messages as they fit' },
  { value: 'mail', label: 'Mail' },
  { value: 'messages', label: 'Messages' },
] as const;

const NO_RULES: readonly SenderRow[] = [];
/** Of a long paste: what needs the owner stands first then. */
const SHOWN_LINES = 100;

interface AddSheetProps {
  readonly onClose: () => void;
  readonly initialText?: string;
}

export function AddSheet({ onClose, initialText = '' }: AddSheetProps) {
  const rules = useEngine(({ slices }) => slices?.senders) ?? NO_RULES;
  const [text, setText] = useState(initialText);
  const [confirmed, setConfirmed] = useState<ReadonlySet<string>>(new Set());
  const [target, setTarget] = useState<SenderRow['for']>('both');
  const [subdomains, setSubdomains] = useState(false);
  const [except, setExcept] = useState('');
  const { attempt, busy } = useBusyRun();
  const area = useRef<HTMLTextAreaElement>(null);
  const check = (each: string) => engine.senders.check({ text: each });
  const checked = useLookup(text.trim() === '' ? null : text, check, 120);
  const context = { rules, confirmed, for: target };
  const paste = readPaste(checked.value ?? [], context);
  const domains = hasDomain(paste.senders);

  async function add() {
    const done = await attempt((async () => {
      // What was typed last counts, also if the table has not caught up.
      const { senders } = readPaste(await check(text), context);
      const options = { for: target, ...(hasDomain(senders) ? { subdomains, except: [...exceptionsOf(except)] } : {}) };
      return engine.senders.add({ senders: senders.map(({ value }) => value), options });
    })());
    if (done) onClose();
  }

  return (
    <Sheet
      title="Add senders" wide onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy || paste.senders.length === 0} onClick={() => void add()}>
            {paste.senders.length === 0 ? 'Add' : `Add ${many(paste.senders.length, 'sender')}`}
          </Button>
        </>
      )}
    >
      <TextArea
        ref={area} label="Senders" value={text} onChange={(event) => setText(event.target.value)} rows={3} problem={checked.problem}
        hint="Paste or type addresses, domains or numbers, one per line or separated by commas."
      />
      <Suggestions
        text={text} taken={new Set([...paste.senders, ...rules].map(({ value }) => value))}
        onChoose={(value) => {
          setText(withEntry(text, value));
          area.current?.focus();
        }}
      />
      <PasteTable
        lines={paste.lines}
        onConfirm={(domain, yes) => setConfirmed((before) => new Set(yes ? [...before, domain] : [...before].filter((each) => each !== domain)))}
      />
      <RadioGroup label="For" value={target} options={TARGETS} onChange={setTarget} />
      {domains && (
        <>
          <Checkbox label="Include subdomains" checked={subdomains} onChange={setSubdomains} hint="Also everyone at lists.example.org when example.org is added." />
          <ExceptionsField text={except} onChange={setExcept} />
        </>
      )}
      {paste.senders.length > 0 && (
        <BacktestBox senders={paste.senders} subdomains={domains && subdomains} for={target} hasExceptions={domains && except.trim() !== ''} />
      )}
    </Sheet>
  );
}

const STATES: Readonly<Record<PasteLine['state'], { readonly icon: IconId; readonly word: string }>> = {
  ok: { icon: 'check', word: 'ok' },
  listed: { icon: 'check', word: 'ok' },
  confirmed: { icon: 'check', word: 'ok' },
  confirm: { icon: 'warning', word: 'to confirm' },
  refused: { icon: 'problem', word: 'refused' },
};

function PasteTable({ lines, onConfirm }: { readonly lines: readonly PasteLine[]; readonly onConfirm: (domain: string, yes: boolean) => void }) {
  if (lines.length === 0) return null;
  const isLong = lines.length > SHOWN_LINES;
  const needy = (line: PasteLine) => line.state === 'confirm' || line.state === 'refused';
  const shown = isLong ? [...lines.filter(needy), ...lines.filter((line) => !needy(line))].slice(0, SHOWN_LINES) : lines;
  return (
    <div>
      <ul role="list" className="paste" aria-label="What was read">
        {shown.map((line) => (
          <li key={line.key} className={`paste-line paste-${line.state}`}>
            <span className="paste-text">
              <Address text={line.text} />
              {line.value !== null && <span className="paste-value hint"><Address text={line.value} /></span>}
            </span>
            {line.domain !== null && (line.state === 'confirm' || line.state === 'confirmed')
              ? <Checkbox label={line.words} checked={line.state === 'confirmed'} onChange={(yes) => onConfirm(line.domain!, yes)} />
              : <span className="paste-words">{line.words}</span>}
            <span className="paste-state"><Icon id={STATES[line.state].icon} size={12} /><span className="hidden-text">{STATES[line.state].word}</span></span>
          </li>
        ))}
      </ul>
      {isLong && <p className="hint">{lines.length} entries were read; {shown.length} are shown, those that need a look first.</p>}
    </div>
  );
}

const SOURCES: Readonly<Record<Suggestion['source'], string>> = { contacts: 'Contacts', vip: 'VIP', recent: 'Recent' };

/** From Contacts, Mail's VIPs and recent arrivals. Without a text they are read only when asked for. */
function Suggestions({ text, taken, onChoose }: { readonly text: string; readonly taken: ReadonlySet<string>; readonly onChoose: (value: string) => void }) {
  const [recent, setRecent] = useState(false);
  const typed = typedEntry(text);
  const wanted = typed.length >= 2 ? typed : typed === '' && recent ? '' : null;
  const { value, problem } = useLookup(wanted, (each) => engine.senders.suggest({ text: each, limit: 8 }), 200);
  const found = wanted === null ? [] : (value ?? []).filter((each) => !taken.has(each.value));
  if (wanted === null && typed === '') {
    return <div><Button look="plain" onClick={() => setRecent(true)}>Show Recent Senders</Button></div>;
  }
  if (problem !== null && wanted === '') return <p className="field-problem">{problem}</p>;
  if (found.length === 0) return wanted === '' && value !== null ? <p className="hint">No recent sender was found.</p> : null;
  return (
    <ul role="list" className="suggestions" aria-label="Suggestions">
      {found.map((each) => (
        <li key={`${each.source} ${each.value}`} className="suggestion">
          <button type="button" className="suggestion-button" onClick={() => onChoose(each.value)}>
            {each.name !== null && <span className="suggestion-name"><PersonName text={each.name} /></span>}
            <span className="suggestion-value"><Address text={each.value} /></span>
            <span className="hint">{SOURCES[each.source]}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
