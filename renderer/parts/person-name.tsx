import { cleanName, splitAddress, textLabel } from './clean-name.ts';
import './person-name.css';

interface TextProps {
  readonly text: string;
  /** Shows all of it on several lines. */
  readonly whole?: boolean;
}

/** A name, subject or other text by a stranger: cleaned, isolated, and cut at its end where it is too long. */
export function PersonName({ text, whole = false }: TextProps) {
  const clean = cleanName(text);
  return <bdi dir="auto" className={whole ? 'person-whole' : 'person-name'} title={whole ? undefined : textLabel(clean)}>{clean}</bdi>;
}

/** An address or number: where it is too long, it loses its middle. */
export function Address({ text, whole = false }: TextProps) {
  if (whole) return <bdi dir="auto" className="person-whole">{cleanName(text)}</bdi>;
  const [start, end] = splitAddress(text);
  return (
    <bdi dir="auto" className="person-address" title={textLabel(start + end)}>
      <span className="person-start">{start}</span>
      {end !== '' && <span className="person-end">{end}</span>}
    </bdi>
  );
}
