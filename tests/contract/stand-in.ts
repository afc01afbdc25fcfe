/** A vendor's stand-in on the wire, for the tests of one file; what a test has opened is closed after it. */
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** What a stand-in answers to a request's body; of several the last one stays. */
export type Answer = (body?: unknown) => Response | Promise<Response>;

interface Closable {
  close(): Promise<unknown>;
}

/** Called once at the top of a test file. A request that no handler was set for fails the test. */
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
    /** Has the service under test closed at the end of the test. */
    closing<Service extends Closable>(service: Service): Service {
      open = service;
      return service;
    },
    /** The next of the answers for each call. */
    next(answers: readonly Answer[], call: number): Answer {
      const answer = answers[Math.min(call, answers.length - 1)];
      if (!answer) throw new Error('No answer is left.');
      return answer;
    },
  };
}
