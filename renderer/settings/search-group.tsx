import type { SearchState } from '../../app/contract/search.ts';
import type { PlainSettings } from '../../app/contract/plain-settings.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Time } from '../parts/time.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { engine } from '../stores/engine-store.ts';
import { DeadLettersRow } from './dead-letters-row.tsx';
import { searchWords } from './search-words.ts';
import { setSetting } from './set-setting.ts';
import { SettingsGroup, SettingsRow, SwitchRow } from './settings-group.tsx';
import './search-group.css';

/** The index of mail: how far it is, what is not in it, and what it takes. */
export function SearchGroup({ search, settings }: { readonly search: SearchState; readonly settings: PlainSettings }) {
  const { text, kind, sentence, progress, size, deadLetters } = searchWords(search);
  const { attempt, busy } = useBusyRun();
  const exists = search.phase !== 'off' && search.phase !== 'unavailable';
  return (
    <SettingsGroup title="Search">
      <SettingsRow label="Index of mail" hint={sentence && <PersonName text={sentence} whole />}>
        <Badge kind={kind} text={text} />
        {exists && <Button disabled={busy} title="Throws the index away and makes it anew" onClick={() => void attempt(engine.search.rebuild({}))}>Rebuild</Button>}
      </SettingsRow>
      {progress !== null && (
        <div className="settings-row search-progress">
          <progress aria-label="Mails in the index" max={Math.max(1, search.total)} value={Math.min(search.indexed, search.total)} />
          <span className="numbers">{progress}</span>
          {search.syncedAt !== null && <span className="hint">Compared with Mail <Time at={search.syncedAt} /></span>}
        </div>
      )}
      {size !== null && <SettingsRow label="Size"><span className="numbers">{size}</span></SettingsRow>}
      {deadLetters && <DeadLettersRow {...deadLetters} />}
      <SwitchRow
        label="Build the index on battery" hint="Off: it waits until this Mac is plugged in." on={settings.indexOnBattery}
        onChange={(on) => void setSetting('indexOnBattery', on)}
      />
    </SettingsGroup>
  );
}
