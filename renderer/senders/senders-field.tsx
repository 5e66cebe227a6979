import { useRef, useState, type ReactNode, type RefObject } from 'react';
import type { SenderRow, Suggestion } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { TextArea } from '../parts/field.tsx';
import { Icon, type IconId } from '../parts/icon.tsx';
import { Address, PersonName } from '../parts/person-name.tsx';
import { useLookup } from '../parts/use-lookup.ts';
import { engine } from '../stores/engine-store.ts';
import { readPaste, typedEntry, withEntry, type Paste, type PasteContext, type PasteLine } from './paste.ts';
import './senders-field.css';

/** Of a long paste: what needs the owner stands first then. */
const SHOWN_LINES = 100;

const check = (text: string) => engine.senders.check({ text });

export interface Typed {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly paste: Paste;
  readonly problem: string | null;
  readonly confirm: (domain: string, yes: boolean) => void;
  /** What was typed last counts, also if the table has not caught up. */
  readonly readNow: () => Promise<Paste>;
  /** The field itself, to put the focus into. */
  readonly area: RefObject<HTMLTextAreaElement | null>;
}

/** Senders as they are typed, read by the engine. @param rules those that are listed already */
export function useTyped({ rules, for: target, initialText = '' }: Pick<PasteContext, 'rules' | 'for'> & { readonly initialText?: string }): Typed {
  const [text, setText] = useState(initialText);
  const [confirmed, setConfirmed] = useState<ReadonlySet<string>>(new Set());
  const checked = useLookup(text.trim() === '' ? null : text, check, 120);
  const context = { rules, confirmed, for: target };
  const area = useRef<HTMLTextAreaElement>(null);
  return {
    area,
    text,
    setText,
    paste: readPaste(checked.value ?? [], context),
    problem: checked.problem,
    confirm: (domain, yes) => setConfirmed((before) => new Set(yes ? [...before, domain] : [...before].filter((each) => each !== domain))),
    readNow: async () => readPaste(await check(text), context),
  };
}

interface SendersFieldProps {
  readonly typed: Typed;
  /** Not suggested again. */
  readonly rules: readonly Pick<SenderRow, 'value'>[];
  readonly label?: string;
  readonly lines?: number;
  /** Stands between what was typed and what is suggested. */
  readonly children?: ReactNode;
}

/** One field for addresses, domains and numbers, and under it how each entry was read. */
export function SendersField({ typed, rules, label = 'Senders', lines = 3, children }: SendersFieldProps) {
  const { text, setText, paste, problem, confirm, area } = typed;
  const entry = typedEntry(text);
  const suggestions = {
    taken: new Set([...paste.senders, ...rules].map(({ value }) => value)),
    onChoose: (value: string) => {
      setText(withEntry(text, value));
      area.current?.focus();
    },
  };
  return (
    <>
      <TextArea
        ref={area} label={label} value={text} onChange={(event) => setText(event.target.value)} rows={lines} problem={problem}
        hint="Paste or type addresses, domains or numbers, one per line or separated by commas."
      />
      <Suggestions text={entry.length >= 2 ? entry : null} {...suggestions} />
      <PasteTable lines={paste.lines} onConfirm={confirm} />
      {children}
      {entry === '' && <Recent {...suggestions} />}
    </>
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

interface SuggestionsProps {
  readonly taken: ReadonlySet<string>;
  readonly onChoose: (value: string) => void;
}

/** Those who wrote last. They are read only when asked for. */
function Recent(props: SuggestionsProps) {
  const [isShown, setShown] = useState(false);
  return (
    <>
      <p className="recent muted">
        Recent on this Mac, never sent anywhere:
        {!isShown && <Button dense aria-label="Show recent senders" onClick={() => setShown(true)}>Show</Button>}
      </p>
      {isShown && <Suggestions text="" {...props} />}
    </>
  );
}

/** From Contacts, Mail's VIPs and recent arrivals. @param text nothing is looked up for null, and the recent ones for an empty text */
function Suggestions({ text, taken, onChoose }: SuggestionsProps & { readonly text: string | null }) {
  const { value, problem } = useLookup(text, (each) => engine.senders.suggest({ text: each, limit: 8 }), 200);
  const found = (value ?? []).filter((each) => !taken.has(each.value));
  if (text === '' && problem !== null) return <p className="field-problem">{problem}</p>;
  if (found.length === 0) return text === '' && value !== null ? <p className="hint">No recent sender was found.</p> : null;
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
