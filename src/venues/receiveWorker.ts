/** Entry of the receive thread: reads all venue connections, so that busy service code cannot delay receive times. */
import { workerData } from 'node:worker_threads';
import { systemClock } from '../runtime/clock.ts';
import { ConnectionReader } from './connectionReader.ts';
import type { ReceiveThreadSettings } from './handover.ts';

new ConnectionReader(workerData as ReceiveThreadSettings, systemClock);
