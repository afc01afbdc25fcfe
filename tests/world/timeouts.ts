/**
 * Waits for a condition may last a minute, not a second: how soon something comes to pass on a busy machine is no matter of these
 * tests, and what never comes fails them all the same.
 */
import { vi } from 'vitest';

const timeout = 60_000;
const { waitFor, waitUntil } = vi;
vi.waitFor = (condition, options) => waitFor(condition, patient(options));
vi.waitUntil = (condition, options) => waitUntil(condition, patient(options));

const patient = <Options extends { timeout?: number }>(options: number | Options | undefined) =>
  typeof options === 'number' ? options : { timeout, ...options };
