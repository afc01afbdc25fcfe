/**
 * Waits for a condition may last a minute, not a second: these tests don't depend on how soon something happens on a busy
 * machine, and a condition that is never met still fails them.
 */
import { vi } from 'vitest';

const timeout = 60_000;
const { waitFor, waitUntil } = vi;
vi.waitFor = (condition, options) => waitFor(condition, patient(options));
vi.waitUntil = (condition, options) => waitUntil(condition, patient(options));

const patient = <Options extends { timeout?: number }>(options: number | Options | undefined) =>
  typeof options === 'number' ? options : { timeout, ...options };
