export const pageFolder: string;
/** Whether dist/page was built from the sources as they are. */
export function pageIsFresh(): boolean;
