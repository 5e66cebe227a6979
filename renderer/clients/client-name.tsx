import { quotedName } from '../../app/contract/health.ts';
import type { ClientRow } from '../../app/contract/values.ts';
import { PersonName } from '../parts/person-name.tsx';

export function ClientName({ client }: { readonly client: Pick<ClientRow, 'id' | 'label' | 'display'> }) {
  return <PersonName text={quotedName(client)} />;
}
