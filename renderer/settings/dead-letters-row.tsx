import { useState } from 'react';
import { deadLetterLines, type DeadLetters } from '../../app/contract/search.ts';
import { PersonName } from '../parts/person-name.tsx';
import { engine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import type { SearchWords } from './search-words.ts';

/** Mails that could not be read whole: how many of each kind, and which, looked up when it is opened. */
export function DeadLettersRow({ title, lines }: NonNullable<SearchWords['deadLetters']>) {
  const [kinds, setKinds] = useState<readonly DeadLetters[] | null>(null);
  const look = async () => setKinds(await run(engine.search.deadLetters({})));
  return (
    <div className="settings-row">
      <details className="settings-words" onToggle={({ currentTarget }) => void (currentTarget.open && look())}>
        <summary>{title}</summary>
        <ul className="settings-lines">{lines.map(({ reason, text }) => <li key={reason}><PersonName text={text} whole /><Mails kind={kinds?.find((kind) => kind.reason === reason)} /></li>)}</ul>
      </details>
    </div>
  );
}

function Mails({ kind }: { readonly kind: DeadLetters | undefined }) {
  return kind && <ul className="settings-lines numbers">{deadLetterLines(kind).map((line) => <li key={line}><PersonName text={line} whole /></li>)}</ul>;
}
