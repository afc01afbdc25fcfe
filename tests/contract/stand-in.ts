/** A vendor's stand-in for the tests of one file; the services that a test opens are closed after it. */
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, onTestFinished, vi } from 'vitest';

/** What a stand-in answers to a request's body; of several answers the last one is repeated. */
export type Answer = (body?: unknown) => Response | Promise<Response>;

interface Closable {
  close(): Promise<unknown>;
}

/**
 * For the rest of a test, only the first requests have a time limit: it is short, and on a busy machine it would end those that are
 * answered, too.
 */
export function limitOnly(first: number): void {
  const limit = AbortSignal.timeout.bind(AbortSignal);
  let requests = 0;
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  timeout.mockImplementation((ms) => (requests++ < first ? limit(ms) : new AbortController().signal));
  onTestFinished(() => timeout.mockRestore());
}

/** Called once at the top of a test file. A request without a handler fails the test. */
export function standIn() {
  const server = setupServer();
  let open: Closable | null = null;
  beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
  afterEach(async () => {
    await open?.close();
    open = null;
    server.resetHandlers();
  });
  afterAll(() => server.close());
  return {
    server,
    /** Closes the service under test at the end of the test. */
    closing<Service extends Closable>(service: Service): Service {
      open = service;
      return service;
    },
    /** The next answer for each call. */
    next(answers: readonly Answer[], call: number): Answer {
      const answer = answers[Math.min(call, answers.length - 1)];
      if (!answer) throw new Error('No answer is left.');
      return answer;
    },
  };
}
