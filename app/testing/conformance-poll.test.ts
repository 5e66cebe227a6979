import { socketWay } from './conformance-kit.ts';
import { pollRows } from './conformance-poll.ts';

pollRows(socketWay);
