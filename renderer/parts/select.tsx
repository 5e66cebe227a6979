import { useId } from 'react';
import './select.css';

interface SelectProps<T extends string> {
  readonly label: string;
  readonly hideLabel?: boolean;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
  readonly disabled?: boolean;
  readonly tabIndex?: number;
}

export function Select<T extends string>({ label, hideLabel = false, value, options, onChange, disabled = false, tabIndex }: SelectProps<T>) {
  const id = useId();
  return (
    <span className="select">
      <label htmlFor={id} className={hideLabel ? 'hidden-text' : 'select-label'}>{label}</label>
      <select id={id} className="select-input" value={value} disabled={disabled} tabIndex={tabIndex} onChange={(event) => onChange(event.target.value as T)}>
        {options.map((option) => <option key={option.value} value={option.value}>{option.label}</option>)}
      </select>
    </span>
  );
}
