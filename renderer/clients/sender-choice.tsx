import { useId, useState } from 'react';
import type { SenderRow } from '../../app/contract/values.ts';
import { Checkbox, RadioGroup } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';
import { Address } from '../parts/person-name.tsx';
import { useEngine } from '../stores/engine-store.ts';
import { searchRules } from '../senders/rule-words.ts';
import './sender-choice.css';

export type ChosenSenders = 'all' | readonly string[];

const NO_RULES: readonly SenderRow[] = [];
/** Longer lists get a search field, and show so many at once. */
const FEW = 12;
const SHOWN = 100;

/** All allowed senders, or some of them. What is chosen only narrows the list of allowed senders. */
export function SenderChoice({ value, onChange }: { readonly value: ChosenSenders; readonly onChange: (value: ChosenSenders) => void }) {
  const rules = useEngine(({ slices }) => slices?.senders) ?? NO_RULES;
  const label = useId();
  const [text, setText] = useState('');
  const found = searchRules(rules, text);
  const chosen = value === 'all' ? [] : value;
  const known = new Set(rules.map((rule) => rule.value));
  // Chosen before and no longer in the list: shown, so that nothing is allowed unseen.
  const others = chosen.filter((each) => !known.has(each));
  const toggle = (sender: string, on: boolean) => onChange(on ? [...chosen, sender] : chosen.filter((each) => each !== sender));
  return (
    <div className="sender-choice">
      <RadioGroup
        label="Senders" value={value === 'all' ? 'all' : 'some'} onChange={(each) => onChange(each === 'all' ? 'all' : [])}
        options={[{ value: 'all', label: 'All allowed senders' }, { value: 'some', label: 'Only these' }]}
      />
      {value !== 'all' && rules.length > FEW && (
        <Field label="Search senders" hideLabel placeholder="Search" type="search" value={text} onChange={(event) => setText(event.target.value)} />
      )}
      {value !== 'all' && (
        <div role="group" aria-labelledby={label} className="sender-choice-list">
          <span id={label} className="hidden-text">Only these senders</span>
          {rules.length + others.length === 0 && <p className="muted">No sender is allowed yet.</p>}
          {found.slice(0, SHOWN).map((rule) => (
            <Checkbox key={rule.value} label={<Address text={rule.display} />} checked={chosen.includes(rule.value)} onChange={(on) => toggle(rule.value, on)} />
          ))}
          {found.length > SHOWN && <p className="hint">{found.length - SHOWN} more. Search to find them.</p>}
          {others.map((sender) => (
            <Checkbox key={sender} label={<Address text={sender} />} checked hint="Not in the list of allowed senders." onChange={(on) => toggle(sender, on)} />
          ))}
        </div>
      )}
    </div>
  );
}
