/**
 * How often one network may search. A question is milliseconds of the one thread that also hands out the pages: without a bound whoever
 * asks from a hundred connections at once would make every reader wait.
 */
import { networkOf } from '../accounts/engine/keyed.server.ts';
import { createGate } from '../accounts/gate.ts';
import { isLoopback } from '../loopback.ts';

/** A letter typed may be a question, and many readers may share an address: ten questions a second for a minute. */
const gate = createGate({ most: 600, seconds: 60 });

/**
 * Counts one question.
 *
 * @param address of who asks. One of this machine is that of a proxy which no setting names: all readers would share its bound.
 * @returns 0 when it may be asked, else the seconds to wait
 */
export const searchWait = (address: string): number => (isLoopback(address) ? 0 : gate.enter(networkOf(address)));
