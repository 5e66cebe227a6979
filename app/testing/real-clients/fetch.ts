import { clientIds, publishedClient } from './client-cache.ts';

// Fills the cache ahead of the tests. What cannot be had here is said there, by the test that needs it.
await Promise.allSettled(clientIds.map(publishedClient));
