import { parentPort, workerData } from 'node:worker_threads';
import { answerSearches, type FinderData } from './index-finder.ts';
import { keep, type KeeperData } from './index-keeper.ts';

/** Entry of both threads of the search index: one file, so that one is shipped. */
const data = workerData as KeeperData | FinderData;
if (parentPort !== null) {
  if (data.role === 'keep') keep(parentPort, data);
  else answerSearches(parentPort, data);
}
