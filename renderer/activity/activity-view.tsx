import { useCallback, useEffect, useState } from 'react';
import type { ActivityRow, ClientRow } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Field } from '../parts/field.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Select } from '../parts/select.tsx';
import { hourMinuteSecond } from '../../app/contract/time-words.ts';
import { useFind } from '../parts/use-find.ts';
import { View } from '../parts/view.tsx';
import { quotedName } from '../../app/contract/health.ts';
import { clockNow, useNow } from '../stores/clock.ts';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { saveText } from '../stores/own-machine.ts';
import { openSection, useView } from '../stores/view-store.ts';
import { dayGroups } from './day-groups.ts';
import { useActivity } from './use-activity.ts';
import { activityWords, KINDS, searchActivity, type ActivityKind } from './words.ts';
import './activity-view.css';

const NO_CLIENTS: readonly ClientRow[] = [];
const ANY = 'any';

export function ActivityView() {
  const clients = useEngine(({ slices }) => slices?.clients) ?? NO_CLIENTS;
  const keepDays = useEngine(({ slices }) => slices?.settings.keepSendersDays ?? 0);
  const [kind, setKind] = useState<ActivityKind | typeof ANY>(ANY);
  const [client, setClient] = useState<string>(ANY);
  const [text, setText] = useState('');
  const find = useFind();
  const nameOf = useCallback((id: string) => {
    const row = clients.find((each) => each.id === id);
    return row ? quotedName(row) : `Client ${id}`;
  }, [clients]);
  const { rows, more, busy, problem, loadMore } = useActivity(kind === ANY ? null : kind, client === ANY ? null : client);
  const hidden = useView((view) => view.hideDetails);
  const shown = searchActivity(hidden ? rows.map((row) => ({ ...row, sender: null })) : rows, text, nameOf);

  // A search reads on until it has found a page, or everything was read.
  const searches = text.trim() !== '';
  useEffect(() => {
    if (searches && more && !busy && problem === null && shown.length < 50) loadMore();
  }, [searches, more, busy, problem, shown.length, loadMore]);

  function clear() {
    setKind(ANY);
    setClient(ANY);
    setText('');
  }

  const filtered = searches || kind !== ANY || client !== ANY;
  return (
    <View
      title="Activity"
      tools={(
        <>
          <Select
            label="Kind" hideLabel value={kind} onChange={setKind}
            options={[{ value: ANY, label: 'All' }, ...(Object.keys(KINDS) as ActivityKind[]).map((each) => ({ value: each, label: KINDS[each].text }))]}
          />
          <Select label="Client" hideLabel value={client} onChange={setClient} options={[{ value: ANY, label: 'Any client' }, ...clients.map(({ id }) => ({ value: id, label: nameOf(id) }))]} />
          <Field ref={find} label="Search activity" hideLabel placeholder="Search" type="search" value={text} onChange={(event) => setText(event.target.value)} />
          <Button onClick={() => void exportAll()}>Export...</Button>
        </>
      )}
    >
      {problem && <p className="field-problem" role="alert">{problem}</p>}
      {shown.length === 0 && !busy && problem === null && (filtered
        ? <EmptyState action={<Button onClick={clear}>Clear</Button>}>Nothing matches.</EmptyState>
        : <EmptyState>Nothing yet. What Belfry does shows up here.</EmptyState>)}
      <Days rows={shown} nameOf={nameOf} />
      {busy && <p className="muted" role="status">Reading...</p>}
      {more && !busy && <div><Button onClick={loadMore}>Show Older</Button></div>}
      {keepDays === 0
        ? <p className="hint">Senders aren't kept here. <Button look="plain" dense onClick={() => openSection('settings')}>Keep senders for 7 days</Button> in Settings.</p>
        : <p className="hint">Senders are kept here for {keepDays === 1 ? '1 day' : `${keepDays} days`}. <Button look="plain" dense onClick={() => openSection('settings')}>Change</Button> in Settings.</p>}
    </View>
  );
}

function Days({ rows, nameOf }: { readonly rows: readonly ActivityRow[]; readonly nameOf: (id: string) => string }) {
  const now = useNow();
  return dayGroups(rows, now).map(({ day, title, rows: each }) => (
    <section key={day} aria-label={title} className="activity-day">
      <h2>{title}</h2>
      <ul role="list" className="activity-list">{each.map((row) => <ActivityLine key={row.id} row={row} words={activityWords(row, nameOf)} />)}</ul>
    </section>
  ));
}

function ActivityLine({ row, words }: { readonly row: ActivityRow; readonly words: string }) {
  const { text, kind, icon } = KINDS[row.kind];
  return (
    <li className="activity-row">
      <span className="numbers muted">{hourMinuteSecond(row.at)}</span>
      <span className="activity-kind"><Badge kind={kind} text={text} {...(icon && { icon })} /></span>
      <code className="activity-type">{row.type}</code>
      <span className="activity-words"><PersonName text={words} whole /></span>
    </li>
  );
}

/** All that is kept: the same data as on screen. */
async function exportAll(): Promise<void> {
  const text = await run(engine.activity.export({}));
  if (text === null) return;
  const day = new Date(clockNow()).toISOString().slice(0, 10);
  await saveText(`belfry-activity-${day}.jsonl`, text);
}
