import { SettingsRow } from '../settings/settings-group.tsx';
import { Select } from '../parts/select.tsx';
import { GRANT_KEYS, GRANTS, hintOf, type ClientGrants } from './grants.ts';

interface GrantFieldsProps {
  readonly value: ClientGrants;
  readonly onChange: (value: ClientGrants) => void;
  readonly disabled?: boolean;
}

/** Reading, search and writing: each off until it is chosen, each with what it means beside it. */
export function GrantFields({ value, onChange, disabled = false }: GrantFieldsProps) {
  return (
    <div className="settings-card">
      {GRANT_KEYS.map((key) => (
        <SettingsRow key={key} label={GRANTS[key].title} hint={hintOf(value, key)}>
          <Select<string>
            label={GRANTS[key].title} hideLabel disabled={disabled} value={value[key]} options={GRANTS[key].options}
            onChange={(chosen) => onChange({ ...value, [key]: chosen })}
          />
        </SettingsRow>
      ))}
    </div>
  );
}
