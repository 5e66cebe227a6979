import { useRef, useState } from 'react';
import type { WatchRow } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Subject } from '../parts/subject.tsx';
import { Time } from '../parts/time.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { FolderSheet } from './folder-sheet.tsx';
import { WatchSheet } from './watch-sheet.tsx';
import { watchCounts, watchLosses, watchState, watchTitle } from './watch-words.ts';
import './watches-part.css';

const NO_WATCHES: readonly WatchRow[] = [];

/** The standing watches of a client: its own, and those that the owner made for it. */
export function WatchesPart({ client }: { readonly client: string }) {
  const all = useEngine(({ slices }) => slices?.watches) ?? NO_WATCHES;
  const watches = all.filter((watch) => watch.client === client);
  const [sheet, setSheet] = useState<'new' | { readonly folderOf: string } | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const asked = sheet !== null && sheet !== 'new' ? watches.find(({ id }) => id === sheet.folderOf) : undefined;

  // It only takes away, so nothing is asked before.
  async function stop(id: string) {
    if (await run(engine.watches.stop({ id }))) heading.current?.focus();
  }

  return (
    <section aria-labelledby="client-watches" className="clients-group">
      <div className="watches-head">
        <h2 ref={heading} id="client-watches" tabIndex={-1}>Watches</h2>
        <Button icon="plus" onClick={() => setSheet('new')}>New Watch</Button>
      </div>
      {watches.length === 0
        ? <p className="muted">None. A watch keeps events until the client has read them, also while it does not run.</p>
        : (
          <ul role="list" aria-label="Watches" className="clients-list">
            {watches.map((watch) => (
              <WatchItem key={watch.id} watch={watch} onStop={() => void stop(watch.id)} onFolder={() => setSheet({ folderOf: watch.id })} />
            ))}
          </ul>
        )}
      {watches.length > 0 && <p className="hint">Stop takes effect at once, and what was not read is gone. The client can set a new watch; it gets only what you allow.</p>}
      {sheet === 'new' && <WatchSheet client={client} onClose={() => setSheet(null)} />}
      {asked && (
        <Subject gone="The watch is gone, so no folder was changed." onClose={() => setSheet(null)}>{(close) => <FolderSheet watch={asked} onClose={close} />}</Subject>
      )}
    </section>
  );
}

function WatchItem({ watch, onStop, onFolder }: { readonly watch: WatchRow; readonly onStop: () => void; readonly onFolder: () => void }) {
  const { text, kind, sentence } = watchState(watch);
  const title = watchTitle(watch);
  return (
    <li className="watch">
      <div className="watch-words">
        <p className="watch-first"><span className="watch-title">{title}</span> <Badge kind={kind} text={text} /></p>
        <p className="muted">{watchCounts(watch)}</p>
        {sentence !== null && <p className="muted">{sentence}</p>}
        {watch.problem !== null && <p className="field-problem"><PersonName text={watch.problem} whole /></p>}
        {watchLosses(watch).map((loss) => <p key={loss} className="watch-loss">{loss}</p>)}
        {watch.inbox !== null && <p className="muted">Also written to <PersonName text={watch.inbox} whole /></p>}
        <p className="hint">{watch.source === 'owner' ? 'Made by you' : 'Made by the client'}, <Time at={watch.createdAt} /></p>
      </div>
      <div className="watch-actions">
        <Button dense aria-label={`Folder...: ${title}`} onClick={onFolder}>Folder...</Button>
        <Button dense aria-label={`Stop: ${title}`} onClick={onStop}>Stop</Button>
      </div>
    </li>
  );
}
