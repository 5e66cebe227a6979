import { useState } from 'react';
import type { PlainSettings } from '../../app/contract/plain-settings.ts';
import type { HttpState, TokenRow } from '../../app/contract/values.ts';
import { Badge, type BadgeKind } from '../parts/badge.tsx';
import { CodeBox } from '../parts/code-box.tsx';
import { Field } from '../parts/field.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { setSetting } from './set-setting.ts';
import { TokensPart } from './tokens-part.tsx';
import { SettingsGroup, SettingsRow, SwitchRow } from './settings-group.tsx';

const PORTS = { least: 1024, most: 65_535 } as const;
const STATES: Readonly<Record<HttpState['state'], { readonly text: string; readonly kind: BadgeKind }>> = {
  off: { text: 'Off', kind: 'quiet' }, listening: { text: 'Open', kind: 'ok' }, trouble: { text: 'Not open', kind: 'problem' },
};

/** For clients that reach a server only by an address. Nothing is open until it is turned on, and then only to this computer. */
export function HttpGroup({ http, settings, tokens }: { readonly http: HttpState; readonly settings: PlainSettings; readonly tokens: readonly TokenRow[] }) {
  const { text, kind } = STATES[http.state];
  return (
    <SettingsGroup title="HTTP">
      <SwitchRow
        label="Serve MCP on 127.0.0.1" hint="For clients that reach a server only by its address. Reached from this computer only, and only with a token or after you let it sign in." on={settings.http}
        onChange={(on) => void setSetting('http', on)}
      />
      <PortRow key={settings.httpPort} port={settings.httpPort} />
      {(settings.http || http.state !== 'off') && (
        <SettingsRow label="State" hint={http.sentence !== null && <PersonName text={http.sentence} whole />}><Badge kind={kind} text={text} /></SettingsRow>
      )}
      {http.url !== null && (
        <div className="settings-row">
          <div className="settings-words">Address</div>
          <CodeBox text={http.url} name="the address for clients" />
        </div>
      )}
      <TokensPart tokens={tokens} />
    </SettingsGroup>
  );
}

function PortRow({ port }: { readonly port: number }) {
  const [text, setText] = useState(String(port));
  const wanted = /^\d{1,5}$/.test(text.trim()) ? Number(text) : NaN;
  const bad = !(wanted >= PORTS.least && wanted <= PORTS.most);

  function save() {
    if (!bad && wanted !== port) void setSetting('httpPort', wanted);
  }

  return (
    <SettingsRow label="Port">
      <div className="settings-short">
        <Field
          label="Port" hideLabel inputMode="numeric" value={text} maxLength={5} problem={bad ? `A number from ${PORTS.least} to ${PORTS.most}.` : null}
          onChange={(event) => setText(event.target.value)} onBlur={save} onKeyDown={(event) => event.key === 'Enter' && save()}
        />
      </div>
    </SettingsRow>
  );
}
