import { closeProblem, undoNow, useNotices } from '../stores/notice-store.ts';
import { Button, IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import './notices.css';

/** The one polite live region, the sentence of what did not work, and the undo bar: below every view, never over it. */
export function Notices() {
  const { said, problem, offer, sheets } = useNotices();
  // While a sheet is open the rest of the page is inert, and the sheet shows the problem itself.
  const shown = sheets === 0 ? problem : null;
  return (
    <div className="notices">
      <div className="hidden-text" role="status" aria-live="polite">{said}</div>
      {shown !== null && (
        <div className="notices-bar notices-problem" data-notice="problem">
          <Icon id="problem" />
          <span className="notices-text">{shown}</span>
          <IconButton icon="close" label="Close this message" onClick={closeProblem} />
        </div>
      )}
      {offer && (
        <div className="notices-bar" data-notice="undo">
          <span className="notices-text">{offer.text}</span>
          <Button onClick={undoNow}>Undo</Button>
        </div>
      )}
    </div>
  );
}

/** The sentence of what did not work, inside a sheet. */
export function SheetProblem() {
  const problem = useNotices((state) => state.problem);
  return problem === null ? null : <p className="field-problem" role="alert">{problem}</p>;
}
