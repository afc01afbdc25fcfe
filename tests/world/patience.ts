/**
 * Waits for a condition end with the test's own time limit, not after a second: how soon something comes to pass on a busy machine is
 * no matter of these tests.
 */
import { vi } from 'vitest';

const timeout = 20_000;
const { waitFor, waitUntil } = vi;
vi.waitFor = (condition, options) => waitFor(condition, patient(options));
vi.waitUntil = (condition, options) => waitUntil(condition, patient(options));

const patient = <Options extends { timeout?: number }>(options: number | Options | undefined) =>
  typeof options === 'number' ? options : { timeout, ...options };
